import TransferLedger
import TransferModel
import TransferProtocols
import Testing

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// What a request gets from its source, and what prevents it.
@Suite struct PreparationTests {
  private let folder: TemporaryFolder
  private let path: NameBytes

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path.appending(NameBytes("source"))
  }

  private func order(_ range: ByteRange, head: ByteRange? = nil) throws -> PreparationOrder {
    let admitted = try SourceFile(path: path).identity
    return PreparationOrder(
      path: path, version: SourceVersion(admitted) { () throws(TransferError) in SentContent() }, range: range,
      head: head,
      checksIdentity: false, digestsAhead: [], digestsOfFile: [], sentAlgorithm: .crc32c)
  }

  private func code(_ result: Result<Prepared, PreparationFailure>) -> ErrorCode? {
    guard case .failure(let failed) = result else { return nil }
    return failed.failure.code
  }

  /// Other files will close their descriptors: this file is released until then, which does not count as a failure.
  @Test func aFileWithoutADescriptorWaits() {
    #expect(PreparationFailure(TargetFile.failure("open the partial file", EMFILE)).action == .hold)
    #expect(PreparationFailure(TargetFile.failure("open the partial file", EIO)).action == .permanent)
  }

  @Test func aBodyIsWhatTheRangeHolds() throws {
    folder.write(NameBytes("source"), "0123456789")
    let prepared = try Preparation.perform(try order(ByteRange(offset: 2, length: 5))).get()
    #expect(prepared.body?.sentDigest() == RunningDigest.of(Array("23456".utf8), .crc32c))
  }

  @Test(arguments: ["0123456789X", "012345678", "X123456789"]) func whatChangedSinceItWasAdmittedIsNotSent(
    _ now: String
  )
    throws
  {
    folder.write(NameBytes("source"), "0123456789")
    let order = try order(ByteRange(offset: 0, length: 9))
    var later = [timespec(tv_sec: 2_000_000_000, tv_nsec: 0), timespec(tv_sec: 2_000_000_000, tv_nsec: 0)]
    folder.write(NameBytes("source"), now)
    #expect(path.withCString { utimensat(AT_FDCWD, $0, &later, 0) } == 0)
    #expect(code(Preparation.perform(order)) == .sourceChanged)
  }

  /// The kernel says that these files are empty: an empty object would count as all of them.
  @Test(arguments: [nil, ByteRange(offset: 0, length: 0)]) func whatHasMoreBytesThanItsSizeIsNotSent(
    _ range: ByteRange?
  ) throws {
    let path = NameBytes("/proc/version")
    let admitted = try SourceFile(path: path).identity
    try #require(admitted.size == 0)
    let order = PreparationOrder(
      path: path, version: SourceVersion(admitted) { () throws(TransferError) in SentContent() }, range: range,
      checksIdentity: true, digestsAhead: [], digestsOfFile: [], sentAlgorithm: .crc32c)
    #expect(code(Preparation.perform(order)) == .sourceKind)
  }

  /// A short body is read at once, from a file that may have been opened long before.
  @Test func whatIsNoLongerUnderItsNameIsNotSent() throws {
    folder.write(NameBytes("source"), "0123456789")
    var order = try order(ByteRange(offset: 5, length: 5))
    order.file = try SourceFile(path: path)
    #expect(code(Preparation.perform(order)) == nil)
    folder.write(NameBytes("next"), "012345678X")
    let next = folder.path.appending(NameBytes("next"))
    #expect(next.withCString { next in path.withCString { rename(next, $0) } } == 0)
    #expect(code(Preparation.perform(order)) == .sourceChanged)
    // It has been removed, and the open file has what was added.
    #expect(path.withCString { unlink($0) } == 0)
    #expect(code(Preparation.perform(order)) == nil)
  }

  /// To digest what the server holds, all of it is read, and the source is checked again afterwards. The source is
  /// changed in the middle of the read, when the reader checks whether to stop.
  @Test func whatChangesWhileItIsReadIsNotSent() throws {
    let size: Int64 = 1 << 20
    folder.write(NameBytes("source"), "")
    #expect(path.withCString { truncate($0, off_t(size)) } == 0)
    // Sets an old mtime: a file that is created and changed within one tick of the clock looks unchanged.
    var before = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
    #expect(path.withCString { utimensat(AT_FDCWD, $0, &before, 0) } == 0)
    let head = ByteRange(offset: 0, length: size - 10)
    var order = try order(ByteRange(offset: head.length, length: 10), head: head)
    let asked = Lock(0)
    order.stop = ReadStop { [path] in
      let count = asked.withLock { asked in
        asked += 1
        return asked
      }
      if count == 2 {
        let descriptor = path.withCString { open($0, O_WRONLY) }
        _ = pwrite(descriptor, "X", 1, 77)
        close(descriptor)
      }
      return false
    }
    #expect(code(Preparation.perform(order)) == .sourceChanged)
    #expect(asked.withLock { $0 } > 2)
  }
}
