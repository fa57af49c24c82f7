import TransferLedger
import TransferModel
import TransferProtocols

/// Where the SHA-256 of a whole file comes from that its receipt is to have (``BatchSettings/recordSHA256``).
enum RecordedSHA256: Sendable, Hashable {
  case none
  /// The body of the request is the whole file: it is computed in the same read.
  case ofBody
  /// The file is read once more, before the request.
  case ofFile
}

/// The input of a preparing thread. A value, so that it can be passed between threads.
struct PreparationOrder: Sendable {
  var path: NameBytes
  /// How much of the path may lead through symbolic links (``ClaimedFile/root``).
  var root: Int?
  var version: SourceVersion
  /// Our staged copy, which has the path. Its identity has only the size and the mtime of the source.
  var copy: StagedCopy?
  /// nil if only the identity is to be checked (before a finish step), or nothing.
  var range: ByteRange?
  /// Bytes before the range whose digest is needed too.
  var head: ByteRange?
  var checksIdentity: Bool
  var digestsAhead: Set<DigestAlgorithm>
  /// Requested digests of the whole file, for which it is read completely.
  var digestsOfFile: Set<DigestAlgorithm>
  var recordedSHA256 = RecordedSHA256.none
  /// Where the SHA-256 of a long body is computed while it is sent.
  var hashing: BodyDigest.Threads = { $0() }
  /// Set if the file must not be sent when another file has delivered the same content.
  var delivered: DeliveredContent?
  var sentAlgorithm: DigestAlgorithm
  /// The journal entry for the bytes that the body has read.
  var journal: SendingJournal.Entry?
  /// An open descriptor of the same file to reuse, if there is one.
  var file: SourceFile?
  var credential: Credential?
  /// A read that it ends throws `engine.interrupted`, which says nothing about the file.
  var stop = ReadStop.never

  /// The file that has the path now. Blocking.
  func opened() throws(Failure) -> SourceFile { try SourceFile(path: path, root: root) }

  /// All digests for which the whole file is read.
  var digestsOfWholeFile: Set<DigestAlgorithm> {
    recordedSHA256 == .ofFile ? digestsOfFile.union([.sha256]) : digestsOfFile
  }
}

/// Why a request could not be prepared, with the current identity of its source if that changed.
struct PreparationFailure: Error, Sendable {
  var failure: Failure
  var identityNow: SourceIdentity?
  var action: FailureAction

  /// A file that finds no free descriptor, or no room on a disk, is put on hold, and this does not count as a failure
  /// of the file.
  init(_ failure: Failure, identityNow: SourceIdentity? = nil, action: FailureAction = .permanent) {
    (self.failure, self.identityNow) = (failure, identityNow)
    self.action = failure.code == .localFDLimit || failure.isOfFullDisk ? .hold : action
  }
}

enum Preparation {
  /// Bodies up to this size are read once and kept in memory until they are sent.
  static let memoryLimit: Int64 = 64 << 10

  /// How often a read restarts because ctime changed meanwhile.
  private static let patience = 3

  /// Reads longer than this count as long: other work must not wait for them.
  static let longFrom: Int64 = 16 << 20

  /// The long read that ``perform(_:)`` will do; nil if it is short. Blocking: examines the file, and leaves it open in
  /// the order.
  static func longRead(_ order: inout PreparationOrder) -> PreparingQueue.LongRead? {
    let version = ObjectIdentifier(order.version)
    var length = order.head?.length ?? 0
    if !order.digestsAhead.isEmpty { length += order.range?.length ?? 0 }
    if !order.digestsOfWholeFile.isEmpty { length += order.version.identity.size }
    if let copy = order.copy, order.checksIdentity || order.range != nil { length += copy.unprovenLength }
    if order.copy == nil, order.checksIdentity || order.range != nil,
      let file = order.file ?? (try? order.opened())
    {
      order.file = file
      let isCompared =
        file.identity.size > longFrom
        && order.version.isToBeCompared(with: file, isWhole: order.range == nil)
      if isCompared { return PreparingQueue.LongRead(file: version, isAlone: true) }
    }
    return length > longFrom ? PreparingQueue.LongRead(file: version, isAlone: false) : nil
  }

  /// Opens, checks and digests. Blocking: runs on a preparing thread.
  static func perform(_ order: PreparationOrder) -> Result<Prepared, PreparationFailure> {
    do throws(Failure) {
      let credential = order.credential
      guard order.checksIdentity || order.range != nil || !order.digestsOfWholeFile.isEmpty else {
        return .success(Prepared(body: nil, credential: credential))
      }
      // The identity of a reused descriptor is checked again.
      let file =
        if let copy = order.copy {
          try copy.proved(order.file, order.stop)
        } else if let open = order.file { open } else { try order.opened() }
      for _ in 0..<patience {
        let identity = try admittedIdentity(file, order)
        guard var prepared = try read(file, identity, order) else { continue }
        prepared.credential = credential
        return .success(prepared)
      }
      throw Failure(.sourceIO, "its ctime keeps changing while it is read")
    } catch {
      guard order.copy == nil else { return .failure(PreparationFailure(error.ofCopy)) }
      let now = error.code == .sourceChanged ? try? order.opened().identity : nil
      return .failure(PreparationFailure(error, identityNow: now))
    }
  }

  /// The current identity of the file, if it is the admitted version.
  private static func admittedIdentity(_ file: SourceFile, _ order: PreparationOrder) throws(Failure) -> SourceIdentity
  {
    if order.copy != nil { return try file.currentIdentity() }
    let isWhole = order.range == nil
    let identity =
      isWhole ? try order.version.prove(file, order.stop) : try order.version.recognise(file, order.stop)
    if let identity { return identity }
    _ = try SourceFile.identityNow(order.path, root: order.root)
    throw order.version.identity.change(to: try file.currentIdentity())
  }

  /// Checks that the path still leads to the same version.
  private static func checkPath(of file: SourceFile, _ order: PreparationOrder) throws(Failure) {
    if order.range == nil {
      _ = try admittedIdentity(try order.opened(), order)
    } else if order.file != nil, let newer = file.replacement(at: order.path) {
      throw order.version.identity.change(to: newer)
    }
  }

  /// nil if ctime changed meanwhile, so that the file must be compared again.
  private static func read(
    _ file: SourceFile, _ identity: SourceIdentity, _ order: PreparationOrder
  ) throws(Failure) -> Prepared? {
    if order.copy == nil { try checkPath(of: file, order) }
    var body = try order.range.map { range throws(Failure) in try prepareBody(file, range, identity, order) }
    if let head = order.head {
      body?.head = try file.digests(of: head, [order.sentAlgorithm], order.stop)[order.sentAlgorithm]
    }
    var digests: [DigestAlgorithm: Digest] = [:]
    if !order.digestsOfWholeFile.isEmpty {
      let whole = ByteRange(offset: 0, length: identity.size)
      digests = try file.digests(of: whole, order.digestsOfWholeFile, order.stop)
    }
    var original: DeliveredFile?
    if let digest = digests[.sha256] { original = try order.delivered?.original(of: file, digest, order.stop) }
    let more = try file.hasMore(than: identity.size)
    let now = try file.currentIdentity()
    switch identity.relation(to: now) {
    case .same:
      if more { throw .ofUntrueSize(identity.size) }
      return Prepared(
        body: body, fileDigests: digests.filter { order.digestsOfFile.contains($0.key) },
        sha256: order.recordedSHA256 == .ofFile ? digests[.sha256] : nil, original: original)
    case .moved: return nil
    case .other: throw identity.change(to: now)
    }
  }

  private static func prepareBody(
    _ file: SourceFile, _ range: ByteRange, _ identity: SourceIdentity, _ order: PreparationOrder
  ) throws(Failure) -> PreparedBody {
    if range.length <= memoryLimit { return try readWhole(file, range, order) }
    var ahead: [DigestAlgorithm: Digest] = [:]
    if order.digestsAhead.isEmpty {
      file.willNeed(range)
    } else {
      ahead = try file.digests(of: range, order.digestsAhead, order.stop)
    }
    let slice = FileSlice(
      file: file, path: order.copy == nil ? order.path : nil, root: order.root, range: range, admitted: identity,
      algorithm: order.sentAlgorithm, hashing: order.recordedSHA256 == .ofBody ? order.hashing : nil,
      journal: order.journal)
    return PreparedBody(content: .slice(slice), ahead: ahead)
  }

  private static func readWhole(
    _ file: SourceFile, _ range: ByteRange, _ order: PreparationOrder
  ) throws(Failure) -> PreparedBody {
    var bytes = [UInt8](repeating: 0, count: Int(range.length))
    var failure: Failure?
    bytes.withUnsafeMutableBytes { buffer in
      do throws(Failure) { try file.fill(buffer, at: range.offset) } catch { failure = error }
    }
    if let failure { throw failure }
    var running = Dictionary(uniqueKeysWithValues: order.digestsAhead.map { ($0, RunningDigest($0)) })
    var sent = RunningDigest(order.sentAlgorithm)
    bytes.withUnsafeBytes { buffer in
      sent.update(buffer)
      for algorithm in order.digestsAhead { running[algorithm]?.update(buffer) }
    }
    var body = PreparedBody(content: .memory(bytes, sent.finish()), ahead: running.mapValues { $0.finish() })
    if order.recordedSHA256 == .ofBody { body.sha256 = body.ahead[.sha256] ?? RunningDigest.of(bytes, .sha256) }
    return body
  }
}

extension Failure {
  /// How much such a file holds is only known at its end, which may never come: none of it is sent, rather than a part.
  static func ofUntrueSize(_ size: Int64) -> Failure {
    Failure(.sourceKind, "has more bytes than its size of \(size), as files in /proc do: its length is not known")
  }

  /// The same for a staged copy: nobody may write to it, and no next version of it is sent.
  var ofCopy: Failure {
    guard code == .sourceChanged || code == .sourceMissing else { return self }
    return Failure(.sourceIO, "its staged copy was changed or deleted while it was sent")
  }
}
