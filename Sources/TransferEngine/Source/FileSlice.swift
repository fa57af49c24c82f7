import CSys
import TransferLedger
import TransferModel
import TransferProtocols

/// A byte range of a source file as a request body: read straight into libcurl's buffer, and digested in the same pass.
///
/// Before it passes on the last bytes it compares the file's identity with that at admission, and checks whether its
/// path still leads to it: a source that was changed or replaced while it was sent never becomes a complete body, so
/// the server completes neither a mix of two versions nor an old one.
final class FileSlice: BodySource, @unchecked Sendable {
  let file: SourceFile
  let range: ByteRange
  /// nil for a staged copy, which has no newer version.
  private let path: NameBytes?
  /// How much of it may lead through symbolic links; nil for all of it but the last component.
  private let root: Int?
  private let admitted: SourceIdentity
  private let algorithm: DigestAlgorithm
  /// Where SHA-256 is computed; nil if it is not recorded.
  private let hashing: BodyDigest.Threads?
  private let journal: SendingJournal.Entry?
  // Used by one thread at a time: the transport's while the request runs, the engine's after its reply.
  private var running: RunningDigest
  /// SHA-256 of the same bytes, if it is recorded.
  private var recorded: BodyDigest?
  private var digested: Int64 = 0
  /// The current identity of the path, if the source was found changed.
  private(set) var identityNow: SourceIdentity?

  init(
    file: SourceFile, path: NameBytes?, root: Int? = nil, range: ByteRange, admitted: SourceIdentity,
    algorithm: DigestAlgorithm, hashing: BodyDigest.Threads? = nil, journal: SendingJournal.Entry? = nil
  ) {
    self.hashing = hashing
    self.journal = journal
    self.file = file
    self.path = path
    self.root = root
    self.range = range
    self.admitted = admitted
    self.algorithm = algorithm
    running = RunningDigest(algorithm)
  }

  var length: Int64 { range.length }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Result<Int, Failure> {
    do throws(Failure) {
      let wanted = aligned(Int(min(Int64(buffer.count), range.length - offset)), buffer, at: range.offset + offset)
      let slice = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
      let count = try file.read(into: slice, at: range.offset + offset)
      let bytes = UnsafeRawBufferPointer(rebasing: slice[..<count])
      if count == 0 || offset + Int64(count) == range.length { try checkIdentity(bytes, at: offset) }
      guard count > 0 else {
        throw Failure(.sourceShortRead, "the source ended at byte \(range.offset + offset) of \(range.end)")
      }
      digest(bytes, at: offset)
      return .success(count)
    } catch {
      return .failure(error)
    }
  }

  /// Shortens a long piece so that the next one has the same offset within a page in the file as in the buffer, and
  /// keeps it. libcurl's buffer begins 16 bytes into a page, and AMD EPYC copies into that from the beginning of a page
  /// four times slower: 0.65 s per GiB instead of 0.16, more than all the rest of an upload (measured with pread, Linux
  /// 6, 256 KiB pieces).
  private func aligned(_ wanted: Int, _ buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> Int {
    guard wanted >= 8 * Self.pageSize, let start = buffer.baseAddress else { return wanted }
    let shift = (Int(bitPattern: start) &- Int(truncatingIfNeeded: position)) & (Self.pageSize - 1)
    return shift == 0 ? wanted : wanted - ((wanted - shift) & (Self.pageSize - 1))
  }

  private static let pageSize = 4096
  private static let longestReread: Int64 = 256 << 20

  /// The digest of the bytes that were passed on; nil unless all of them were, in order.
  func sentDigest() -> Digest? { digested == range.length ? running.finish() : nil }

  /// SHA-256 of the same bytes, if it is recorded.
  func sentSHA256() -> Digest? { digested == range.length ? recorded?.finish() : nil }

  /// The bytes read from the start of the range, if the request did not store its chunk.
  func sentPiece() -> SentContent.Piece? {
    guard digested > 0 else { return nil }
    return SentContent.Piece(range: ByteRange(offset: range.offset, length: digested), digest: running.finish())
  }

  /// Where the bytes that were read end; nil if none were.
  var sentEnd: Int64? { digested > 0 ? range.offset + digested : nil }

  private func checkIdentity(_ last: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
    let now = try file.currentIdentity()
    let newer = path.flatMap(file.replacement)
    switch admitted.relation(to: now) {
    case _ where newer != nil: break
    case .same: return
    case .moved where try isStillWhatWasRead(last, at: offset): return
    case .moved, .other: break
    }
    if let path { identityNow = try SourceFile.identityNow(path, root: root) }
    throw admitted.change(to: newer ?? now)
  }

  /// Whether the file still has the bytes that were read for this body. A changed ctime alone does not require sending
  /// them again: permissions or hard links may have changed. Reads the bytes a second time, unless there are more than
  /// ``longestReread``, because this runs on libcurl's thread and blocks all requests to the server.
  private func isStillWhatWasRead(_ last: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) -> Bool {
    guard offset == digested, offset <= Self.longestReread else { return false }
    var read = running
    read.update(last)
    let piece = SentContent.Piece(
      range: ByteRange(offset: range.offset, length: offset + Int64(last.count)), digest: read.finish())
    var content = SentContent()
    (content.pieces, content.acked) = ([piece], [piece.range])
    return try ContentCheck.identity(of: file, known: admitted, content, .never) != nil
  }

  private func digest(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
    if offset == 0 {
      running = RunningDigest(algorithm)
      recorded = hashing.map { BodyDigest(.sha256, $0) }
      digested = 0
    }
    guard offset == digested else { return }
    running.update(bytes)
    recorded?.add(bytes)
    digested += Int64(bytes.count)
    // Written before the bytes are passed on: after a kill it is known what may have been sent.
    if let journal, let piece = sentPiece() { journal.note(piece) }
  }
}
