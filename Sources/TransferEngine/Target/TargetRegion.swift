import HTTPTypes
import TransferModel
import TransferProtocols

/// A byte range of a partial file as the sink of an answer: written straight from libcurl's buffer, digested in the
/// same pass. A body is accepted only if the protocol recognises it as content of this range. Bytes that are already
/// stored and arrive again are compared, not written.
final class TargetRegion: BodySink, @unchecked Sendable {
  typealias Content = @Sendable (_ status: Int, _ fields: HTTPFields) -> AnswerContent
  typealias StoredRanges = @Sendable () throws(Failure) -> [ByteRange]

  /// The partial file; nil until content arrives, if there may be none.
  private(set) var file: TargetFile?
  private let make: @Sendable () throws(Failure) -> TargetFile
  let range: ByteRange
  private let content: Content
  private let algorithm: DigestAlgorithm
  /// The stored part of the chunk before the range.
  private let stored: ByteRange
  /// What earlier runs stored of other chunks, called only if the body begins before this chunk; nil if they are not
  /// compared.
  private let others: StoredRanges?
  /// The ranges before the range that an answer repeats, and that are in the file.
  private var repeated: [ByteRange] = []
  /// How much of ``taken`` the file knows of.
  private var noted: Int64 = 0
  /// Its digest; nil if nothing is stored, or the range does not end the chunk.
  private let head: Digest?
  // Touched by one thread at a time: the transport's while the request runs, the engine's after its reply.
  private var running: RunningDigest
  private var zeros = ZeroRun()
  /// The offset in the file of the next byte of the body.
  private var position: Int64 = 0
  /// The offset at which the body ends; nil if its length is unknown.
  private var end: Int64?
  /// For a body of unknown length.
  private var longest: LongestBody?
  /// Limits a body that is longer than the range, which the run has allowed; nil for no limit. Set before the request
  /// is sent.
  var allowance: ByteAllowance?
  /// Bytes of ``allowance`` that were taken for this body.
  private(set) var allowed: Int64 = 0
  /// The bytes of the body that have arrived.
  private var arrived: Int64 = 0
  private var checkedAt: Int64 = 0
  /// The result of ``beginSettling()``.
  private var beginning: Result<Void, Failure> = .success(())
  /// Bytes of the range, from its start, that have been written to the file.
  private(set) var taken: Int64 = 0
  /// The meaning of an answer whose body was refused.
  private(set) var refusal: Interpretation?

  /// - Parameter file: if nil, the first content calls `make` to create it.
  init(
    _ file: TargetFile?, make: @escaping @Sendable () throws(Failure) -> TargetFile = { preconditionFailure("a file") },
    _ range: ByteRange, stored: ByteRange? = nil, others: StoredRanges? = nil, head: Digest? = nil,
    _ algorithm: DigestAlgorithm, content: @escaping Content
  ) {
    (self.file, self.make, self.range, self.others, self.head) = (file, make, range, others, head)
    (self.algorithm, self.content) = (algorithm, content)
    self.stored = stored ?? ByteRange(offset: range.offset, length: 0)
    running = RunningDigest(algorithm)
  }

  func begin(status: Int, fields: HTTPFields) -> Result<Bool, Failure> {
    switch content(status, fields) {
    case .other: return .success(false)
    case .refused(let meaning):
      refusal = meaning
      guard case .failed(let failure, _) = meaning.outcome else {
        preconditionFailure("an answer was refused without a failure")
      }
      return .failure(failure)
    case .bytes(let from, let to, let size): return accept(from: from, to: to, of: size ?? to)
    case .bytesToEnd(let most, let meaning):
      longest = LongestBody(most: most, meaning)
      return accept(from: 0, to: nil)
    }
  }

  private func accept(from: Int64, to: Int64?, of size: Int64? = nil) -> Result<Bool, Failure> {
    guard from <= range.offset else {
      return .failure(Failure(.engineBug, "the protocol accepted bytes from \(from) on as content of \(range)"))
    }
    (position, end) = (from, to)
    if let to, let failure = limit(to - from) { return .failure(failure) }
    do throws(Failure) {
      let file = try opened()
      try findRepeated(in: file)
      // The beginning of a file that does not fit would only take room from others.
      if let size { try file.requireRoom(for: size) }
      if let to, to > range.end { try file.reserve(to) }
    } catch {
      return .failure(error)
    }
    return .success(true)
  }

  /// The failure if the body has `length` bytes, and the run has not as many left. It waits for the next run.
  private func limit(_ length: Int64) -> Failure? {
    guard let allowance, length - range.length > allowed else { return nil }
    let more = length - range.length - allowed
    guard allowance.take(more) else {
      let body = end == nil ? "the body has no length, and continued after \(arrived) bytes" : "it has \(length) bytes"
      return Failure(.policyLimit, "\(body); --max-bytes leaves \(range.length + allowed + allowance.left)")
    }
    allowed += more
    return nil
  }

  private func opened() throws(Failure) -> TargetFile {
    if let file { return file }
    let made = try make()
    file = made
    return made
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Failure? {
    if let end, position + Int64(bytes.count) > end {
      return Failure(.protoBadReply, "the body of the answer is longer than its header said")
    }
    if let longest, let failure = longest.failure(at: position + Int64(bytes.count)) {
      refusal = longest.meaning
      return failure
    }
    if end == nil, let failure = limit(arrived + Int64(bytes.count)) {
      try? file?.empty()
      return failure
    }
    arrived += Int64(bytes.count)
    do throws(Failure) {
      let ahead = Int(min(Int64(bytes.count), max(0, range.offset - position)))
      if ahead > 0 { try compare(UnsafeRawBufferPointer(rebasing: bytes[..<ahead])) }
      let next = UnsafeRawBufferPointer(rebasing: bytes[ahead...])
      if !next.isEmpty { try take(next) }
      position += Int64(bytes.count)
      return nil
    } catch {
      // Nothing can continue a body of unknown length, so it does not keep the room that it took.
      if error.isOfFullDisk, end == nil { try? file?.empty() }
      return error
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    let file = try opened()
    if end == nil || file.isSparse { try checkRoom(of: file) }
    if file.isSparse {
      try zeros.write(bytes, at: range.offset + taken, to: file)
    } else {
      try file.write(bytes, at: range.offset + taken)
    }
    running.update(bytes)
    taken += Int64(bytes.count)
    guard taken - noted >= Self.notedEvery || range.offset + taken == end else { return }
    noted = taken
    file.noteArrival(from: range.offset, to: range.offset + taken)
  }

  private static let notedEvery: Int64 = 256 << 10

  private func findRepeated(in file: TargetFile) throws(Failure) {
    guard position < range.offset else { return repeated = [] }
    var others: [ByteRange] = []
    if let known = self.others, position < stored.offset { others = try known() + file.arrived }
    repeated = ((stored.length > 0 ? [stored] : []) + others).filter { position < $0.end && $0.offset < range.offset }
  }

  /// Handles bytes before the range: those that are in the file already are compared, also those of other chunks. The
  /// rest arrives with its own requests.
  private func compare(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    for stored in repeated {
      let (start, end) = (max(position, stored.offset), min(position + Int64(bytes.count), stored.end))
      guard start < end else { continue }
      let again = UnsafeRawBufferPointer(rebasing: bytes[Int(start - position)..<Int(end - position)])
      guard try opened().holds(again, at: start) else {
        throw Failure(.sourceChanged, "the server sent different bytes than before, from byte \(start) on")
      }
    }
  }

  /// A body of unknown length may have no end, and nothing was reserved for a sparse file: neither may use the last
  /// free space of the disk.
  private func checkRoom(of file: TargetFile) throws(Failure) {
    guard taken >= checkedAt else { return }
    let (free, room) = (file.freeBytes, TargetSpace.room(besides: range.offset + taken))
    guard free >= 0 else { return checkedAt = .max }
    checkedAt = taken + min(Self.roomEvery.upperBound, max(Self.roomEvery.lowerBound, (free - room) / 2))
    guard free < room else { return }
    let body = end == nil ? "the body has no length, and continued after \(taken) bytes" : "\(taken) bytes arrived"
    throw Failure(.localDiskFull, "\(body); the disk has \(free) bytes left, and \(room) must stay free")
  }

  /// Number of bytes between two looks at the free space.
  private static let roomEvery: ClosedRange<Int64> = (256 << 10)...(16 << 20)

  /// Starts the work that ``settle()`` waits for, so that it runs concurrently for several regions. After the reply.
  func beginSettling() {
    guard taken > 0, let file, !file.isSparse else { return }
    beginning = Result { () throws(Failure) in try file.beginSync() }
  }

  /// Syncs the received data, which is on the disk if this returns nil. Blocking; after the reply.
  func settle() -> Failure? {
    guard taken > 0, let file else { return nil }
    do throws(Failure) {
      try beginning.get()
      try zeros.flush(to: file)
      // For a body of unknown length: no other writer is behind it.
      if file.isSparse { try file.reserve(range.offset + taken) }
      try file.sync()
    } catch {
      return error
    }
    return nil
  }

  /// The digest of the stored part of the chunk, if the body is complete; after the reply.
  func digest() -> Digest? {
    guard position == end ?? position else { return nil }
    guard stored.length > 0 else { return running.finish() }
    return head.flatMap { RunningDigest.combine($0, running.finish(), secondLength: taken) }
  }
}
