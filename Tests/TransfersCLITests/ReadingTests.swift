import Glibc
import Testing
import TransferTestSupport

/// The output of the reading commands for one ledger that has a file of each outcome.
@Suite struct ReadingTests {
  /// Filled once, because reading does not change it.
  static let shared: Result<(folder: TemporaryFolder, store: String), any Error> = Result {
    let folder = try TemporaryFolder()
    atexit { ReadingTests.removeShared() }
    return (folder, try FilledLedger(in: folder).path)
  }

  private static func removeShared() {
    if case .success(let shared) = shared { removeTree(shared.folder.path) }
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
    "list files --state paused", "report throughput", "report batches", "report hosts", "report retries",
    "report daily",
    "report weekly --since 2025-11-20", "report monthly", "list files --state finished --path b*",
    "list files --label run=42 --label x=y f3-f5",
    "list files --dest *bucket?q? --since 2025-11-20 --until 2025-11-21T00:00:00Z",
    "list files --host bucket --path *.bin",
    "list chunks c2", "list attempts a3 c2", "list attempts f1 --since 2025-11-20T10:00:01.5Z",
    "list batches --label lane=1", "list files --state backoff",
    "report slow", "report slow --limit 1 --batch nightly",
    "report chunks f1 --map", "report chunks f2", "report latency",
    "report latency --by host --sla attempt<=1s --sla file.wall<2s", "report waste",
    "report integrity", "report compare b1 b2", "report runs", "report runs --batch nightly", "report events",
    "report receipts", "report compare 2025-11-19 2025-11-20.. --host bucket",
    "list files --min-size 4 --max-size 10M --direction up --attempts <9",
    "report files --since 2025-11-20 --by finished",
    "report failures --by code,host,hour,path-prefix", "report files --facet host,state,error,batch,direction",
    "report failures --facet error", "report hosts --fail-on mismatch --sort attempts:desc",
    "why f1", "why f2", "why f3", "why f4", "why b1", "why r1",
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
    ("show f99", "no such file: f99"), ("show b3", "no such batch: b3"), ("show c99", "no such chunk: c99"),
    ("show a99", "no such attempt: a99"),
    ("list files f99", "no such file: f99"), ("list files b9-b12", "no such batch: b9"),
    ("list --batch weekly", #"no batch "weekly""#),
    ("list --state lost", #"no file state "lost""#), ("list files a1", #""a1" does not select files"#),
    ("list files f1-f2x", #""f1-f2x" is not an ID"#), ("list files 0badcafe", "the uid 0badcafe… does not exist"),
    ("list chunks a1", #""a1" does not select files"#), ("list chunks c9", "no such chunk: c9"),
    ("list attempts a99", "no such attempt: a99"),
    ("list --error htp.503", #"no error code "htp.503""#), ("list --error zzz.*", "no error code"),
    ("list --since soon", #"--since "soon" is not a time"#), ("list --until 25-01-01", "is not a time"),
    ("list --since 1h --until 2h", "not later than --since"), ("list --label x", "is not key=value"),
    ("list files --all f1", "--all selects everything and excludes IDs"),
    ("list --all --label a=b", "excludes --label"),
    ("list --all --since 1d", "excludes --since"), ("list --all --unverified", "excludes --unverified"),
    ("list --min-size 2K --max-size 1K", "no file can match"), ("list --min-size 5x", #""5x" is not"#),
    ("list --min-size 9999999999P", "is not"), ("list --slower-than soon", #""soon" is not"#),
    ("list --attempts <0", #""<0" is not"#), ("list --attempts 5-2", "is not"),
    ("list --attempts 99999999999999999999", "is not"), ("list --direction sideways", "is not"),
    ("report files --by started", "needs --since or --until"),
    ("report hosts --since 1d --by started", "is not for hosts"),
    ("status --last --batch nightly", "name different batches"),
    ("why f99", "no such file: f99"), ("why b9", "no such batch: b9"), ("why r9", "no such run: r9"),
    ("why f1-f2", "is not one row"),
    ("why a1", #"why takes a file, batch or run, not "a1""#), ("why r0", #""r0" is not an ID"#),
    ("retry f1 --state done", "done cannot be retried"), ("retry", "--all would retry 1 file"),
  ])
  func whatIsNotThereIsWrongUse(_ command: String, _ part: String) throws {
    let outcome = try run(command)
    #expect(outcome.code == 64)
    #expect(outcome.err.contains(part), "\(outcome.err)")
  }

  /// The rows of the ledger: f1 is done with 5 attempts in 3.5 s; f2 and f3 have 5 and 3 bytes.
  @Test(arguments: [
    ("--attempts >2", "f1"), ("--attempts 0", "f4 f5"), ("--max-size 5", "f2 f3"), ("--min-size 10M", "f1 f5"),
    ("--direction down", ""), ("--direction up --max-size 4", "f3"), ("--unverified", ""),
    ("--path '%'", ""), ("--path \"", ""), ("--path a%", ""), ("--host '", ""), ("--dest %", ""),
    ("--path ');DROP/**/TABLE/**/file;--", ""), ("--slower-than 0s", "f1 f2"), ("--slower-than 1s", "f1"),
  ])
  func figuresAndQuotesAreTakenAsTheyAre(_ words: String, _ ids: String) throws {
    let outcome = try run("list files --ids \(words)")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.out.split(separator: "\n").joined(separator: " ") == ids)
  }

  /// All UIDs of this ledger begin with the same timestamp.
  @Test func theBeginningOfAUIDIsAnID() throws {
    let pattern = /"uid":"([0-9a-f-]{36})"/
    let uid = try #require(try run("show f2 --json").out.matches(of: pattern).dropLast().last?.output.1)
    for text in [String(uid), uid.replacing("-", with: ""), uid.uppercased(), String(uid.dropLast())] {
      #expect(try run("list files \(text)").out == run("list files f2").out)
    }
    #expect(try run("show \(uid)").out == run("show f2").out)
    let ambiguous = try run("list files \(uid.prefix(8))")
    #expect(ambiguous.code == 64)
    #expect(
      ambiguous.err.contains("is ambiguous: b1, b2, f1, f2, …. Try: give more digits"), "\(ambiguous.err)")
    let attempt = try #require(
      try run("list attempts a2 --json").out.firstMatch(of: pattern)?.output.1)
    #expect(try run("show \(attempt)").out == run("show a2").out)
  }

  @Test func idsComeFromStandardInput() throws {
    let both = try run("list files f1 f3 --json").out
    for list in ["f1\nf3\n", " f3  f1", "f1\0f3\0", "f1-f1\r\n\tf3\n"] {
      #expect(try run("list files - --json", input: list).out.contains("\"id\":\"f3\""))
      #expect(try run("list files -", input: list).out == run("list files f1 f3").out)
    }
    #expect(both.contains("\"id\":\"f1\""))
    #expect(try run("list files f2 -", input: "f1").out == run("list files f1 f2").out)
    #expect(try run("list files -", input: "").out == "no rows\n")
    let bad = try run("list files -", input: "f1 \u{1B}[2J")
    #expect(bad.code == 64)
    #expect(bad.err.contains(#""\x1b[2J" is not an ID"#), "\(bad.err)")
  }

  @Test func aHostileNameIsEscaped() throws {
    for command in ["list files", "show f5", "why f5", "status"] {
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

  private func run(_ command: String, input: String? = nil) throws -> BuiltProgram.Outcome {
    try program.run(
      (command.split(separator: " ").map { Array($0.utf8) }) + [Array("--store".utf8), Array(store.utf8)],
      input: input)
  }
}
