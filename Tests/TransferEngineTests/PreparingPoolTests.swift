import Testing
import TransferLedger
import TransferModel
import TransferProtocols
import TransferTestSupport

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// What has to wait while sources are read, and what ends a long read.
@Suite struct PreparingPoolTests {
  private let folder: TemporaryFolder
  /// The length of the sparse files, which makes reading them a long read.
  private let length = Preparation.longFrom + 5 * 256 * 1_024
  private let results = Mailbox<String>()

  init() throws {
    folder = try TemporaryFolder()
    for name in ["long", "short", "other"] { folder.write(NameBytes(name), name) }
    for name in ["long", "other"] { #expect(path(name).withCString { truncate($0, off_t(length)) } == 0) }
  }

  private func path(_ name: String) -> NameBytes { folder.path.appending(NameBytes(name)) }

  private func order(
    _ name: String, _ version: SourceVersion? = nil, range: ByteRange? = ByteRange(offset: 0, length: 5),
    stop: ReadStop = .never
  ) throws -> PreparationOrder {
    let admitted = try SourceFile(path: path(name)).identity
    return PreparationOrder(
      path: path(name), version: version ?? SourceVersion(admitted) { () throws(TransferError) in SentContent() },
      range: range, checksIdentity: range == nil, digestsAhead: [], digestsOfFile: [], sentAlgorithm: .crc32c,
      stop: stop)
  }

  /// The version of the long file before its ctime changed; all of it was sent. `asked` is called before the
  /// comparison.
  private func moved(_ asked: @escaping @Sendable () -> Void = {}) throws -> SourceVersion {
    let admitted = try SourceFile(path: path("long")).identity
    #expect(path("long").withCString { chmod($0, 0o640) } == 0)
    let whole = ByteRange(offset: 0, length: length)
    var content = SentContent()
    let digest = RunningDigest.of([UInt8](repeating: 0, count: Int(length)), .crc32c)
    content.pieces = [SentContent.Piece(range: whole, digest: digest)]
    content.acked = [whole]
    let known = content
    return SourceVersion(admitted) { () throws(TransferError) in
      asked()
      return known
    }
  }

  private static func text(_ result: Result<Prepared, PreparationFailure>) -> String {
    switch result {
    case .success: "prepared"
    case .failure(let failed): failed.failure.code.rawValue
    }
  }

  private func next() -> [String] { results.take(timeoutMs: 20_000) ?? [] }

  @Test func nothingWaitsForALongRead() throws {
    // The content is zeros except for the name at its beginning, which is overwritten here.
    let descriptor = path("long").withCString { open($0, O_WRONLY) }
    #expect(pwrite(descriptor, [0, 0, 0, 0] as [UInt8], 4, 0) == 4)
    close(descriptor)
    let (begun, gate) = (Mailbox<Void>(), Mailbox<Void>())
    let version = try moved {
      begun.put(())
      _ = gate.take()
    }
    let pool = try PreparingPool(threadCount: 1)
    pool.perform(try order("long", version)) { [results] in results.put("long \(Self.text($0))") }
    #expect(begun.take(timeoutMs: 20_000)?.count == 1)
    // Another order for the same file would only wait with the first one, and occupies no thread for that.
    pool.perform(try order("long", version)) { [results] in results.put("long \(Self.text($0))") }
    pool.perform(try order("short")) { [results] in results.put("short \(Self.text($0))") }
    #expect(next() == ["short prepared"])
    var other = try order("other", range: nil)
    other.digestsOfFile = [.crc32c]
    pool.perform(other) { [results] in results.put("other \(Self.text($0))") }
    #expect(next() == ["other prepared"])
    pool.read({ "answer" }) { [results] in results.put($0) }
    #expect(next() == ["answer"])
    gate.put(())
    pool.stop()
    #expect(next() == ["long prepared", "long prepared"])
  }

  /// A long answer does not delay sources, nor they the answer.
  @Test func sourcesDoNotWaitForAnAnswer() throws {
    let gate = Mailbox<Void>()
    let pool = try PreparingPool(threadCount: 1)
    pool.read({ gate.take()?.count }) { [results] _ in results.put("answer") }
    pool.perform(try order("short")) { [results] in results.put(Self.text($0)) }
    #expect(next() == ["prepared"])
    gate.put(())
    #expect(next() == ["answer"])
    pool.stop()
  }

  @Test func aPoolWithoutThreadsIsAnError() async {
    await #expect(processExitsWith: .success) {
      refuseThreads()
      let error = #expect(throws: TransferError.self) { try PreparingPool(threadCount: 2) }
      precondition(error?.kind == .config && error?.subject == NameBytes("prepare requests"))
    }
  }

  @Test func whatWasOrderedIsDoneBeforeItStops() throws {
    let pool = try PreparingPool(threadCount: 2)
    let count = Lock(0)
    for _ in 0..<200 {
      pool.perform(try order("short")) { _ in count.withLock { $0 += 1 } }
      pool.read({ 1 }) { number in count.withLock { $0 += number } }
    }
    pool.stop()
    #expect(count.withLock { $0 } == 400)
  }

  // MARK: - Stopping

  /// Whatever the source is read for: the read ends before the next buffer, and says nothing about the file.
  @Test(arguments: ["comparison", "proof", "head", "ahead", "whole"]) func aStopEndsALongRead(_ what: String) throws {
    let asked = Lock(0)
    let stop = ReadStop {
      asked.withLock { asked in
        asked += 1
        return asked > 2
      }
    }
    let version = what == "comparison" || what == "proof" ? try moved() : nil
    let known = version?.identity
    var order = try order(
      "long", version, range: what == "proof" || what == "whole" ? nil : ByteRange(offset: 0, length: length),
      stop: stop)
    if what == "head" { order.head = order.range }
    if what == "ahead" { order.digestsAhead = [.sha256] }
    if what == "whole" { order.digestsOfFile = [.md5] }
    let result = Preparation.perform(order)
    #expect(Self.text(result) == "engine.interrupted")
    if case .failure(let failed) = result { #expect(failed.identityNow == nil) }
    #expect(asked.withLock { $0 } == 3, "two buffers were read")
    #expect(version?.identity == known && version?.needsProof != true, "the comparison is still pending")
  }
}
