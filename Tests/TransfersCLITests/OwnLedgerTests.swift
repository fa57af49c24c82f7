import Glibc
import Testing
import TransferLedger

/// Ledgers among the sources: that of the upload is not sent, and none is removed.
@Suite struct OwnLedgerTests {
  private let scene: ReceiverScene
  private var folder: String { scene.folder }

  init() throws {
    scene = try ReceiverScene(script: "")
    mkdir(scene.folder + "/in/x", 0o700)
    try writeFile(scene.folder + "/in/x/a", Array("one".utf8))
  }

  private func configure(_ more: String) throws {
    let config = "jobs: {all: {from: \(folder)/in, to: \"\(scene.receiver.url)/up/\"\(more)}}"
    try writeFile(folder + "/config.yaml", Array(config.utf8))
    chmod(folder + "/config.yaml", 0o600)
  }

  /// The ledger is complete, and nothing of it is at the server.
  private func expectOnlyTheSource(ledger: String) throws {
    #expect(try names(in: folder + "/objects/up") == ["x"])
    let sent = try names(in: folder + "/objects/up/x")
    #expect(sent.count == 1 && sent[0].hasPrefix("a"), "\(sent)")
    let check = try scene.transfers(["store", "check"], ledger: ledger)
    #expect(check.code == 0, "\(check.out)\(check.err)")
    let files = try scene.transfers(["list", "files", "--ids", "--all"], ledger: ledger)
    #expect(files.out == "f1\n")
  }

  /// It does not exist when the sources are named.
  @Test(arguments: [
    [], ["--stage"], ["--after", "delete"], ["--growing", "segments"],
  ]) func aFirstRunDoesNotSendItsLedger(_ more: [String]) throws {
    let words: [String] = ["push", folder + "/in", scene.receiver.url + "/up/", "-v"]
    let outcome = try scene.transfers(words + more, ledger: "in/l.db")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.err.contains("/in/l.db: it belongs to the ledger of this upload"), "\(outcome.err)")
    try expectOnlyTheSource(ledger: "in/l.db")
  }

  @Test(arguments: ["", ", after: delete", ", growing: segments"])
  func neitherDoesThatOfAJob(_ more: String) throws {
    try configure(more)
    for _ in 0..<2 {
      let outcome = try scene.transfers(
        ["job", "run", "all", "--no-syslog", "--config", folder + "/config.yaml"], ledger: "in/l.db")
      #expect(outcome.code == 0, "\(outcome.err)")
    }
    try expectOnlyTheSource(ledger: "in/l.db")
  }

  /// The folder of the ledger has another name than the one by which it is found, and does not exist at first.
  @Test func aFirstRunKnowsItsLedgerBelowALink() throws {
    symlink("in", folder + "/link")
    let outcome = try scene.transfers(
      ["push", folder + "/in", scene.receiver.url + "/up/", "--after", "delete"], ledger: "link/state/l.db")
    #expect(outcome.code == 0, "\(outcome.err)")
    try expectOnlyTheSource(ledger: "in/state/l.db")
    #expect(access(folder + "/in/x/a", F_OK) != 0)
  }

  @Test func stagedCopiesAreNotSourcesOfTheNextRun() throws {
    for _ in 0..<3 {
      let outcome = try scene.transfers(
        ["add", "--stage", folder + "/in", "http://127.0.0.1:1/up/"], ledger: "in/l.db")
      #expect(outcome.code == 0, "\(outcome.err)")
    }
    #expect(try scene.transfers(["list", "files", "--ids", "--all"], ledger: "in/l.db").out == "f1\n")
    #expect(try names(in: folder + "/in/l.db.staged").count == 1)
    let plan = try scene.transfers(["add", "-n", folder + "/in", "http://127.0.0.1:1/more/"], ledger: "in/l.db")
    #expect(!plan.out.contains("staged/"), "\(plan.out)")
  }

  /// Another ledger may be sent, for example as a backup. It stays, with the copies that its uploads need.
  @Test(arguments: ["delete", "move"]) func aLedgerIsNeverRemoved(_ fate: String) throws {
    mkdir(folder + "/moved", 0o700)
    mkdir(folder + "/other", 0o700)
    try writeFile(folder + "/other/b", Array("two".utf8))
    let other = "in/other.db"
    #expect(try scene.transfers(["add", "--stage", folder + "/other", "http://127.0.0.1:1/"], ledger: other).code == 0)
    let key = folder + "/in/other.db.key"
    try writeFile(key, Array("key".utf8))
    let before = try names(in: folder + "/in")
    let copies = try names(in: folder + "/in/other.db.staged")
    let word = fate == "move" ? "move:\(folder)/moved" : fate
    let outcome = try scene.transfers(
      ["push", folder + "/in", scene.receiver.url + "/up/", "--after", word])
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.err.contains("it belongs to the ledger \(folder)/in/other.db"), "\(outcome.err)")
    #expect(access(folder + "/in/x/a", F_OK) != 0, "what is no ledger goes")
    #expect(try names(in: folder + "/in") == before)
    #expect(copies.count == 1)
    #expect(try names(in: folder + "/in/other.db.staged") == copies)
    unlink(key)
    let check = try scene.transfers(["store", "check"], ledger: other)
    #expect(check.code == 0, "\(check.out)")
  }
}
