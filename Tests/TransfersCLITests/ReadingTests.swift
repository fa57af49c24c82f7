import Glibc
import Testing

/// What people and programs see of one ledger that has a file of each fate.
@Suite struct ReadingTests {
  /// Filled once: looking does not change it.
  static let shared: Result<(folder: TemporaryFolder, store: String), any Error> = Result {
    let folder = try TemporaryFolder()
    atexit { ReadingTests.removeShared() }
    return (folder, try FilledLedger(in: folder).path)
  }

  private static func removeShared() {
    if case .success(let shared) = shared { TemporaryFolder.remove(shared.folder.path) }
  }

  let program: BuiltProgram
  let store: String

  init() throws {
    program = try BuiltProgram()
    store = try Self.shared.get().store
  }

  static let commands = [
    "status", "list batches", "list files", "list chunks", "list attempts", "report summary", "report failures",
    "show b1", "show f1", "show f2", "show f4", "show c1", "show a3", "store check",
    "list files --state failed,unknown",
    "list files --error http.*", "list files b2", "list files f1-f2 b2", "list attempts --error http.503",
    "status --last",
    "list batches --state pending", "report summary --batch nightly", "list files --limit 2",
    "list files --state paused",
  ]

  @Test(arguments: commands)
  func asText(_ command: String) throws {
    let outcome = try run(command)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.err.isEmpty)
    try Golden.expect("\(command).text", outcome.out, hiding: store)
  }

  @Test(arguments: commands)
  func asJSON(_ command: String) throws {
    let outcome = try run(command + " --json")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.err.isEmpty)
    try Golden.expect("\(command).json", outcome.out, hiding: store)
  }

  @Test(arguments: [
    ("show f99", "no row f99"), ("show b3", "no row b3"), ("show c99", "no row c99"), ("show a99", "no row a99"),
    ("list files f99", "no row f99"), ("list files b9-b12", "no row b9"),
    ("list --batch weekly", #"no batch "weekly""#),
    ("list --state lost", #"no file state "lost""#), ("list files a1", #""a1" selects no files"#),
    ("retry f1 --state done", "done cannot be retried"), ("retry", "--all would retry 1 file"),
  ])
  func whatIsNotThereIsWrongUse(_ command: String, _ part: String) throws {
    let outcome = try run(command)
    #expect(outcome.code == 64)
    #expect(outcome.err.contains(part), "\(outcome.err)")
  }

  @Test func aHostileNameIsEscaped() throws {
    for command in ["list files", "show f5", "status"] {
      let outcome = try run(command)
      #expect(!outcome.out.contains("\u{1B}"))
    }
    #expect(try run("list files").out.contains(#"/data/x\x1b[2J\x0ay"#))
  }

  @Test func aReaderThatWentAwayIsNoError() throws {
    let outcome = try program.runIntoClosedPipe("list", "files", "--store", store)
    #expect(outcome.code == 0)
    #expect(outcome.err.isEmpty)
  }

  private func run(_ command: String) throws -> BuiltProgram.Outcome {
    try program.run(
      (command.split(separator: " ").map { Array($0.utf8) }) + [Array("--store".utf8), Array(store.utf8)])
  }
}
