import Glibc
import Testing
import TransferLedger
import TransferModel

@testable import TransfersCLI

/// A program that is killed while it fetches: no file has the final name yet, and what arrived is not fetched again.
@Suite struct KilledPullTests {
  private let program: BuiltProgram
  private let server: ScriptedServer
  private let object = ScriptedObject(size: 6 * Self.partSize + 100)
  private var store: String { program.folder.path + "/l.db" }
  private var final: String { program.folder.path + "/in/big" }
  private static let partSize = 64 << 10

  init() throws {
    program = try BuiltProgram()
    server = try ScriptedServer { [object] in object.answer($0) }
    mkdir(program.folder.path + "/in", 0o700)
  }

  private var arguments: [String] {
    ["pull", server.url + "/d/big", program.folder.path + "/in", "--part-size", "64K", "--store", store]
  }

  /// Starts a pull, and kills it when three ranges have arrived and are recorded as stored, and others are in flight.
  private func kill() throws {
    object.state.withLock { $0.answersLeft = 3 }
    let running = try program.start(arguments)
    try object.waitForSilence()
    let ledger = try Ledger.open(at: store, mode: .readOnly, clock: SystemClock())
    try ledger.wait { reader in
      let chunks: [ChunkRow] = try reader.chunks(RowFilter(), after: 0, limit: 10)
      return chunks.filter { $0.state == "done" }.count == 3
    }
    ledger.close()
    #expect(access(final, F_OK) != 0)
    running.signal(SIGKILL)
    _ = try running.wait()
    try server.hearTheDead()
    object.state.withLock { state in
      state.answersLeft = .max
      (state.ranges, state.bytesSent) = ([], 0)
    }
  }

  private func expectWhole() throws {
    #expect(try readText(final) == object.state.withLock { $0.text })
    #expect(try names(in: program.folder.path + "/in") == ["big"])
    let check = try program.run("store", "check", "--store", store)
    #expect(check.code == 0, "\(check.out)")
  }

  @Test func whatCameIsNotFetchedAgain() throws {
    try kill()
    #expect(access(final, F_OK) != 0)
    let outcome = try program.run("run", "--store", store)
    #expect(outcome.code == 0, "\(outcome.err)")
    try expectWhole()
    let state = object.state.withLock { $0 }
    #expect(state.ranges.count == 4 && state.bytesSent == 3 * Self.partSize + 100, "\(state.ranges)")
    #expect(state.conditions == ["\"v1\""])
    let shown = try program.run("show", "f1", "--json", "--store", store)
    #expect(shown.out.contains("\"resumed\":[{\"at\":"), "\(shown.out)")
    #expect(shown.out.contains("\"run\":\"r2\",\"stored\":\(3 * Self.partSize)}]"), "\(shown.out)")
  }

  /// The object has changed in the meantime: the new file contains no byte of the old version.
  @Test func theOldVersionIsGivenUp() throws {
    try kill()
    object.state.withLock { state in
      state.text = String(repeating: "x", count: 3 * Self.partSize)
      state.etag = "\"v2\""
    }
    let outcome = try program.run("run", "--store", store)
    #expect(outcome.code == 0, "\(outcome.err)")
    try expectWhole()
    let files = try program.run("list", "files", "--all", "--json", "--store", store)
    #expect(files.out.contains("superseded"), "\(files.out)")
  }

  /// The partial file was removed: everything is fetched again.
  @Test func aPartialFileThatIsGoneIsFetchedAnew() throws {
    try kill()
    for name in try names(in: program.folder.path + "/in") { unlink(program.folder.path + "/in/" + name) }
    let outcome = try program.run("run", "--store", store)
    #expect(outcome.code == 0, "\(outcome.err)")
    try expectWhole()
    #expect(object.state.withLock { $0.bytesSent } >= 6 * Self.partSize + 100)
  }

  /// Another file has taken the name in the meantime: it stays, and the fetched data is kept.
  @Test func whatHasTheNameMeanwhileIsKept() throws {
    try kill()
    try writeFile(final, Array("mine".utf8))
    let refused = try program.run("run", "--store", store)
    #expect(refused.code != 0 && refused.err.contains("policy.exists"), "\(refused.err)")
    #expect(try readText(final) == "mine")
    unlink(final)
    #expect(try program.run("retry", "f1", "--store", store).code == 0)
    let outcome = try program.run("run", "--store", store)
    #expect(outcome.code == 0, "\(outcome.err)")
    try expectWhole()
  }

  /// Cancelling a pull removes its partial file together with its session.
  @Test func aCancelledPullLeavesNothing() throws {
    try kill()
    #expect(try program.run("cancel", "b1", "--store", store).code == 0)
    _ = try program.run("run", "--store", store)
    #expect(try names(in: program.folder.path + "/in").isEmpty)
    #expect(object.state.withLock { $0.ranges.isEmpty })
    #expect(try program.run("store", "check", "--store", store).code == 0)
  }

  /// The file is retried before its old session has ended: the partial file that it needs is not removed.
  @Test func whatIsRetriedKeepsItsPartialFile() throws {
    try kill()
    #expect(try program.run("cancel", "b1", "--store", store).code == 0)
    #expect(try program.run("retry", "f1", "--store", store).code == 0)
    let outcome = try program.run("run", "--store", store)
    #expect(outcome.code == 0, "\(outcome.err)")
    try expectWhole()
    let attempts = try program.run("list", "attempts", "--json", "--store", store)
    #expect(!attempts.out.contains("\"operation\":\"abort\""), "\(attempts.out)")
  }

  /// Another download has taken the name in the meantime: only one of the two can have it.
  @Test func whatAnotherDownloadWroteIsNotRetriedOver() throws {
    try writeFile(final, Array("mine".utf8))
    #expect(try program.run(arguments.map { Array($0.utf8) }).code != 0)
    unlink(final)
    var other = arguments
    other[1] = server.url + "/e/big"
    #expect(try program.run(other.map { Array($0.utf8) }).code == 0)
    let retried = try program.run("retry", "f1", "--store", store)
    #expect(retried.code == 0 && !retried.out.contains("1 file will"), "\(retried.out) \(retried.err)")
    let failed = try program.run("list", "files", "--state", "failed", "--ids", "--store", store)
    #expect(failed.out == "f1\n")
    try expectWhole()
  }

  @Test func theSameAgainGoesOnWithWhatFailed() throws {
    try kill()
    let outcome = try program.run(arguments.map { Array($0.utf8) })
    #expect(outcome.code == 0, "\(outcome.err)")
    try expectWhole()
    #expect(object.state.withLock { $0.bytesSent } == 3 * Self.partSize + 100)
  }

  /// The program is killed when it has copied the intact chunks of the old file and the others are in flight. The old
  /// file stays until the new one is complete, and nothing is copied or fetched twice.
  @Test func aRepairThatIsKilledGoesOn() throws {
    #expect(try program.run(arguments.map { Array($0.utf8) }).code == 0)
    var spoilt = Array(try readText(final).utf8)
    for offset in [Self.partSize + 5, 4 * Self.partSize + 5] { spoilt[offset] = 0x20 }
    try writeFile(final, spoilt)
    object.state.withLock { state in
      state.answersLeft = 1
      (state.ranges, state.bytesSent) = ([], 0)
    }
    let running = try program.start(arguments + ["--overwrite"])
    try object.waitForSilence()
    running.signal(SIGKILL)
    _ = try running.wait()
    #expect(Array(try readText(final).utf8) == spoilt)
    try server.hearTheDead()
    object.state.withLock { $0.answersLeft = .max }
    let outcome = try program.run("run", "--json", "--store", store)
    #expect(outcome.code == 0, "\(outcome.err)")
    try expectWhole()
    let state = object.state.withLock { $0 }
    #expect(state.bytesSent == 2 * Self.partSize, "\(state.ranges)")
    #expect(outcome.out.contains("\"bytes_reused\":0"), "\(outcome.out)")
    let shown = try program.run("show", "f2", "--json", "--store", store)
    #expect(shown.out.contains("\"bytes_reused\":\(4 * Self.partSize + 100)"), "\(shown.out)")
  }
}

extension Ledger {
  /// Waits for rows that an engine writes; throws if they do not appear.
  fileprivate func wait(until holds: (LedgerReader) throws -> Bool) throws {
    let endMs = SystemClock().bootMs + 60_000
    while try !read(holds) {
      guard SystemClock().bootMs < endMs else { throw SystemFailure("wait for rows") }
      sched_yield()
    }
  }
}
