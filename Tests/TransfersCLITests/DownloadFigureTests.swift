import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// Figures about downloads whose sizes are not known yet, whose partial files were lost, or which were changed later.
@Suite struct DownloadFigureTests {
  private let program: BuiltProgram
  private let server: ScriptedServer
  private let object: ScriptedObject
  /// What is done before an answer is given, with the number of the request.
  private let before: Lock<@Sendable (Int) -> Void>
  private static let size = 6 * (64 << 10) + 100
  private var folder: String { program.folder.path + "/in" }

  init() throws {
    program = try BuiltProgram()
    let (object, asked) = (ScriptedObject(size: Self.size), Lock(0))
    let before = Lock<@Sendable (Int) -> Void> { _ in }
    (self.object, self.before) = (object, before)
    server = try ScriptedServer { request in
      let number = asked.withLock { asked in
        asked += 1
        return asked
      }
      before.withLock { $0 }(number)
      return object.answer(request)
    }
    mkdir(program.folder.path + "/in", 0o700)
  }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome {
    try program.run((words + ["--store", program.folder.path + "/l.db"]).map { Array($0.utf8) })
  }

  @Test func nothingIsCompleteWhileSizesAreUnknown() throws {
    #expect(try run("pull", "--no-run", server.url + "/a", server.url + "/b", folder).code == 0)
    for command in [["status"], ["top", "--once"]] {
      let outcome = try program.run((command + ["--store", program.folder.path + "/l.db"]).map { Array($0.utf8) })
      #expect(!outcome.out.contains("100%"), "\(outcome.out)")
      #expect(outcome.out.contains("2 of unknown size"), "\(outcome.out)")
    }
    #expect(try run("run").code == 0)
    let status = try run("status").out
    #expect(status.contains("100%") && !status.contains("unknown size"), "\(status)")
  }

  /// The partial file disappears before the last range arrives, so everything is fetched twice.
  @Test func whatWasLostWithAPartialFileIsWaste() throws {
    before.withLock { before in
      before = { [folder] number in
        guard number == 7, let names = try? names(in: folder) else { return }
        for name in names { unlink(folder + "/" + name) }
      }
    }
    let outcome = try run("pull", server.url + "/a", folder, "--part-size", "64K", "--segments", "1", "--json")
    #expect(outcome.code == 0, "\(outcome.err)")
    let sent = object.state.withLock { $0.bytesSent }
    #expect(sent == 2 * Self.size)
    let again = try run("run", "--json")
    #expect(again.code == 0)
    #expect(outcome.out.contains("\"bytes_acked\":\(Self.size)"), "\(outcome.out)")
    let waste = try run("report", "waste", "--json")
    #expect(waste.out.contains("\"bytes_acked\":\(Self.size)"), "\(waste.out)")
    #expect(waste.out.contains("\"bytes_wasted\":\(Self.size)"), "\(waste.out)")
    #expect(waste.out.contains("\"cause\":\"lost\""), "\(waste.out)")
    for report in ["hosts", "daily"] {
      let outcome = try run("report", report, "--json")
      #expect(outcome.out.contains("\"bytes_acked\":\(Self.size)"), "\(outcome.out)")
    }
  }

  /// The same in a `run`, which counts what its own requests moved.
  @Test func aRunCountsWhatItFetchedTwiceOnce() throws {
    before.withLock { before in
      before = { [folder] number in
        guard number == 7, let names = try? names(in: folder) else { return }
        for name in names { unlink(folder + "/" + name) }
      }
    }
    let added = try run("pull", "--no-run", server.url + "/a", folder, "--part-size", "64K", "--segments", "1")
    #expect(added.code == 0, "\(added.err)")
    let outcome = try run("run", "--json")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.out.contains("\"bytes_acked\":\(Self.size)"), "\(outcome.out)")
    #expect(outcome.out.contains("\"bytes_unacked\":\(Self.size)"), "\(outcome.out)")
  }

  /// What `verify` found in the newest check of a file is a mismatch for all that judge the ledger.
  @Test func aLaterFindingIsAMismatch() throws {
    #expect(try run("pull", "--record-sha256", server.url + "/a", folder).code == 0)
    #expect(try run("report", "integrity", "--fail-on", "mismatch").code == 0)
    let text = object.state.withLock { $0.text }
    try writeFile(folder + "/a", Array((text.dropLast() + "!").utf8))
    #expect(try run("verify").code == 8)
    for condition in ["mismatch", "contradicted>0"] {
      let report = try run("report", "integrity", "--fail-on", condition)
      #expect(report.code == 8, "\(condition): \(report.out) \(report.err)")
    }
    let status = try run("status", "--exit-code")
    #expect(status.code == 8, "\(status.out) \(status.err)")
    #expect(try run("verify", "--repair").code == 8)
    #expect(try run("run").code == 0)
    #expect(try run("report", "integrity", "--fail-on", "mismatch").code == 0)
    let repaired = try run("status", "--exit-code")
    #expect(repaired.code == 0, "\(repaired.out) \(repaired.err)")
  }
}
