import Glibc
import Testing
import TransferLedger
import TransferModel

@testable import TransfersCLI

/// Downloads, moved sources and archives never take the name of a file that belongs to a ledger.
@Suite struct LedgerTargetTests {
  private let program: BuiltProgram
  private let receiver: RunningReceiver
  private var folder: String { program.folder.path }
  private var store: String { folder + "/l.db" }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: program.folder)
    mkdir(receiver.root + "/up", 0o700)
    mkdir(folder + "/in", 0o700)
    try writeFile(folder + "/in/other", [1])
    // Creates the ledger and its gate.
    let outcome = try run("push", folder + "/in", receiver.url + "/up/")
    #expect(outcome.code == 0, "\(outcome.err)")
  }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome {
    try program.run((words + ["--store", store]).map { Array($0.utf8) })
  }

  private func expectLedger() throws {
    #expect(String(decoding: try readBytes(store).prefix(15), as: UTF8.self) == "SQLite format 3")
    let check = try run("store", "check")
    #expect(check.code == 0, "\(check.out)")
  }

  @Test(arguments: Ledger.fileSuffixes) func aDownloadDoesNotGetItsName(_ suffix: String) throws {
    try writeFile(receiver.root + "/up/l.db" + suffix, Array("not a ledger".utf8))
    let before = access(store + suffix, F_OK)
    let outcome = try run(
      "pull", "--overwrite", receiver.url + "/up/l.db" + suffix, receiver.url + "/up/other", folder + "/")
    #expect(outcome.code == 64, "\(outcome.out)\(outcome.err)")
    #expect(outcome.err.contains("this is the name of a file of the ledger \"\(store)\""), "\(outcome.err)")
    #expect(access(folder + "/other", F_OK) != 0)
    #expect(access(store + suffix, F_OK) == before || before == 0)
    try expectLedger()
  }

  @Test func anArchiveDoesNotGetItsName() throws {
    let outcome = try run("pull", receiver.url + "/up/other", "--into-tar", store + "-journal")
    #expect(outcome.code != 0 && outcome.err.contains("of the ledger"), "\(outcome.err)")
    #expect(access(store + "-journal", F_OK) != 0)
    try expectLedger()
  }

  /// The names that a server lists are known only during the download.
  @Test func aListedFileDoesNotGetItsName() throws {
    let bucket = ScriptedBucket(["p/l.db-journal": "no", "p/l.db": "no", "p/fine": "text"])
    let server = try ScriptedServer { bucket.answer($0) }
    let words = ["pull", "--overwrite", "s3://bucket/p/", folder, "--store", store]
    let outcome = try program.run(
      words.map { Array($0.utf8) },
      environment: [
        "AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "canary-ledger-target",
        "AWS_ENDPOINT_URL": server.url,
      ])
    #expect(outcome.code == 3, "\(outcome.out)\(outcome.err)")
    #expect(outcome.out.contains("policy.exists"), "\(outcome.out)")
    #expect(try readText(folder + "/fine") == "text")
    #expect(access(store + "-journal", F_OK) != 0)
    try expectLedger()
  }

  @Test func aSourceIsNotMovedThere() throws {
    for name in ["/src", "/moved"] { mkdir(folder + name, 0o700) }
    for name in ["l.db", "fine"] { try writeFile(folder + "/src/" + name, [1]) }
    for name in ["l.db", "l.db.gate"] { try writeFile(folder + "/moved/" + name, Array(name.utf8)) }
    try writeFile(folder + "/src/l.db-wal", [1])
    let outcome = try run("push", folder + "/src", receiver.url + "/src/", "--after", "move:\(folder)/moved")
    #expect(access(folder + "/moved/fine", F_OK) == 0, "\(outcome.err)")
    #expect(access(folder + "/moved/l.db-wal", F_OK) != 0 && access(folder + "/src/l.db-wal", F_OK) == 0)
    #expect(try readText(folder + "/moved/l.db") == "l.db")
    #expect(outcome.err.contains("of the ledger"), "\(outcome.err)")
  }
}
