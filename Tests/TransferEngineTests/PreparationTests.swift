import TransferLedger
import TransferModel
import TransferProtocols
import Testing

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// What a request gets of its source, and what stops it.
@Suite struct PreparationTests {
  private let folder: TemporaryFolder
  private let path: NameBytes

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path.appending(NameBytes("source"))
  }

  private func order(_ range: ByteRange, head: ByteRange? = nil, credentials: any CredentialSource = Keyless())
    throws -> PreparationOrder
  {
    let admitted = try SourceFile(path: path).identity
    return PreparationOrder(
      path: path, version: SourceVersion(admitted) { () throws(TransferError) in SentContent() }, range: range,
      head: head,
      checksIdentity: false, digestsAhead: [], digestsOfFile: [], sentAlgorithm: .crc32c, credentials: credentials)
  }

  private func code(_ result: Result<Prepared, PreparationFailure>) -> ErrorCode? {
    guard case .failure(let failed) = result else { return nil }
    return failed.failure.code
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

  /// The digest of what the server holds takes a read of all of it, and the source is looked at again behind that.
  @Test func whatChangesWhileItIsReadIsNotSent() throws {
    let size: Int64 = 192 << 20
    folder.write(NameBytes("source"), "")
    #expect(path.withCString { truncate($0, off_t(size)) } == 0)
    let writer = LateWriter(path)
    let head = ByteRange(offset: 0, length: size - 10)
    let result = Preparation.perform(
      try order(ByteRange(offset: head.length, length: 10), head: head, credentials: writer))
    writer.join()
    #expect(code(result) == .sourceChanged)
  }
}

private struct Keyless: CredentialSource {
  let label = ""
  func credential() throws(Failure) -> Credential? { nil }
  func refresh() {}
}

/// Writes to a file soon after credentials were asked for, which is the first thing that is done.
private final class LateWriter: CredentialSource {
  let label = ""
  private let path: NameBytes
  private let thread = Lock<WorkerThread?>(nil)

  init(_ path: NameBytes) { self.path = path }

  func credential() throws(Failure) -> Credential? {
    thread.withLock { [path] in
      $0 = WorkerThread {
        usleep(3_000)
        let descriptor = path.withCString { open($0, O_WRONLY) }
        _ = pwrite(descriptor, "X", 1, 77)
        close(descriptor)
      }
    }
    return nil
  }
  func refresh() {}
  func join() { thread.withLock { $0 }?.join() }
}
