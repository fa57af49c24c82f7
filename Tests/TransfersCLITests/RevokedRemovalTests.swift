import Glibc
import Testing
import TransferLedger
import TransferModel

@testable import TransfersCLI

/// A verb that revokes the removal of a source after a run was killed in the middle of it: the disk shows whether the
/// source is there.
@Suite struct RevokedRemovalTests {
  private let scene: ReceiverScene
  private var source: String { scene.folder + "/in/f" }

  /// f2 is done, and its removal was begun by a run that ended without recording the result.
  init() throws {
    scene = try ReceiverScene(script: "")
    let (source, url) = (scene.folder + "/in/f", scene.receiver.url)
    try writeFile(source, Array("content".utf8))
    // As long as another file needs the source, it stays.
    #expect(try scene.transfers(["add", source, url + "/other/"]).code == 0)
    #expect(try scene.transfers(["pause", "f1"]).code == 0)
    #expect(try scene.transfers(["push", source, url + "/up/", "--after", "delete"]).code == 0)
    #expect(try scene.transfers(["cancel", "f1"]).code == 0)
    let ledger = try Ledger.open(at: scene.folder + "/l.db", mode: .existing, clock: SystemClock())
    defer { ledger.close() }
    let run = try ledger.startRun(NewRun(argv: ["run"], version: "1", host: "h", bootID: "b", pid: 1))
    let file = FileID(rawValue: 2)
    let begun = try ledger.write { tx in
      let begun = try tx.beginRemovals([file])
      _ = try tx.endRun(run, how: "done")
      return begun
    }
    #expect(begun == [file])
  }

  private func removal() throws -> String {
    let words = ["store", "sql", "SELECT state, cause FROM removal", "--format", "tsv"]
    let rows = try scene.transfers(words).out.split(separator: "\n")
    return rows.last.map(String.init) ?? ""
  }

  @Test(arguments: [["rm", "f2"], ["clean", "f2"], ["cancel", "f2"]]) func whatIsGoneIsNotKept(_ verb: [String]) throws
  {
    #expect(unlink(source) == 0)
    let outcome = try scene.transfers(verb)
    #expect(outcome.code == 0 && !outcome.out.contains("kept"), "\(outcome.out)\(outcome.err)")
    let found = try removal()
    #expect(found.hasPrefix("done"), "\(found)")
    #expect(try scene.transfers(["list", "events", "--all"]).out.contains("source-gone"))
    #expect(try scene.transfers(["store", "check"]).code == 0)
  }

  @Test func whatIsThereStays() throws {
    #expect(try scene.transfers(["rm", "f2"]).code == 0)
    #expect(try removal() == "skipped\tpolicy.cancelled")
    #expect(access(source, F_OK) == 0)
  }
}
