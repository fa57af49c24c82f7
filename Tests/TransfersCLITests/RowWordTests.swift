import Glibc
import Testing

/// IDs in the place of a kind, sessions, and the answers of servers, through the built program.
@Suite struct RowWordTests {
  let program: BuiltProgram
  private var folder: String { program.folder.path }

  init() throws { program = try BuiltProgram() }

  private func run(_ command: String, store: String, input: String? = nil) throws -> BuiltProgram.Outcome {
    try program.run(
      (command.split(separator: " ").map { Array($0.utf8) }) + [Array("--store".utf8), Array(store.utf8)], input: input)
  }

  @Test func theKindMayBeLeftOutBeforeAnID() throws {
    let store = try FilledLedger(in: program.folder).path
    for (short, long) in [
      ("list b2", "list files b2"), ("list f1-f2 b2", "list files f1-f2 b2"), ("report b1", "report summary b1"),
      ("report f3", "report summary f3"),
    ] {
      let outcome = try run(short, store: store)
      #expect(outcome.code == 0, "\(outcome.err)")
      #expect(outcome.out == (try run(long, store: store).out))
    }
    #expect(try run("list - --ids", store: store, input: "f2 f3").out == "f2\nf3\n")
    #expect(try run("list b1 --all", store: store).err.contains("--all selects everything and excludes IDs"))
    #expect(try run("list f9", store: store).err.contains("no such file: f9"))
  }

  @Test(arguments: [
    ("gc s99", "no such session: s99"), ("gc --abort -n", "gc --abort needs to know which sessions"),
    ("show s1", #"show does not take sessions, and "s1" is one. Try: transfers gc s1"#),
    ("pause s1", #""s1" does not select files"#), ("list attempts s1", #""s1" does not select files"#),
  ])
  func sessionsAreForGC(_ command: String, _ part: String) throws {
    let outcome = try run(command, store: try FilledLedger(in: program.folder).path)
    #expect(outcome.code == 64)
    #expect(outcome.err.contains(part), "\(outcome.err)")
  }

  /// A session that cannot be aborted stays in the list, under its own ID and that of its file.
  @Test func aSessionIsChosenByItsNumber() throws {
    let source = folder + "/big"
    try writeFile(source, [UInt8](repeating: 7, count: 100_000))
    let store = folder + "/l.db"
    let script = "match PATCH * : status=403\nmatch DELETE * : status=500"
    let receiver = try RunningReceiver(in: program.folder, script: script)
    let destination = receiver.url.replacing("http:", with: "tus+http:") + "/-/tus/"
    let pushed = try run("push --part-size 16K --digest none \(source) \(destination)", store: store)
    #expect(pushed.code == 4, "\(pushed.err)")
    let all = try run("gc --format ndjson --columns session", store: store).out
    #expect(all.contains(#"{"session":"s1","type":"session"}"#), "\(all)")
    #expect(try run("gc s1 --columns session,file", store: store).out.contains("s1  "))
    let planned = try run("gc s1 --abort -n", store: store)
    #expect(planned.code == 0)
    #expect(planned.out.contains("s1  "))
    #expect(try run("list events --format ndjson", store: store).out.contains("given up") == false)
  }

  @Test func whatTheServerSaidCanBeRead() throws {
    let source = folder + "/f"
    try writeFile(source, [0x61])
    let receiver = try RunningReceiver(in: program.folder, script: "match PUT * : status=413")
    let store = folder + "/l.db"
    #expect(try run("push \(source) \(receiver.url)/in/", store: store).code == 4)
    let shown = try run("show a1 --json=reply", store: store).out
    let column = try run(
      "store sql --json SELECT(CAST(reply_excerpt/**/AS/**/TEXT))r/**/FROM/**/v_attempts", store: store)
    #expect(column.code == 0, "\(column.err)")
    #expect(shown.contains(#"scripted"#), "\(shown)")
    #expect(column.out.contains("scripted"), "\(column.out)")
    #expect(try run("show a1", store: store).out.contains("\nreply"))
  }

  /// The parts of a form around the file are not counted.
  @Test func sentBytesAreThoseOfFiles() throws {
    let source = folder + "/f"
    try writeFile(source, [UInt8](repeating: 7, count: 1000))
    let receiver = try RunningReceiver(in: program.folder)
    let url = receiver.url.replacing("http:", with: "form+http:") + "/-/form/"
    let outcome = try run("push --json \(source) \(url)", store: folder + "/l.db")
    #expect(
      outcome.out.contains(
        #""bytes_acked":1000,"bytes_reused":0,"bytes_transferred":1000,"bytes_unacked":0,"bytes_unacked_at_most":0"#),
      "\(outcome.out)\(outcome.err)")
  }
}
