import Testing

/// The control verbs on a ledger without an engine.
@Suite struct ControlTests {
  let program: BuiltProgram
  let store: String

  init() throws {
    program = try BuiltProgram()
    store = try FilledLedger(in: program.folder).path
  }

  /// Commands that run one after the other on the same ledger.
  private static let story = [
    "pause f5 -n", "pause --all", "pause b2", "list files --state paused --ids", "resume --all", "cancel b2 -n",
    "cancel f5", "cancel b2", "resolve --all --retry --reason no -n", "resolve f1-f3 --done --reason seen -n",
    "retry f5", "retry f1-f4 --reset -n", "set b2 --priority 7 --rate 20M --label a=b",
    "set b1-b2 --priority 7", "set --all --rate none --label a= -n", "clean -n", "clean --failed", "list files",
    "list batches", "status", "rm b2", "rm b2", "list files --hidden", "list batches --hidden --ids", "list files f1",
    "report summary", "list events",
  ]

  @Test func theStoryAsText() throws { try tell("", "control.text") }
  @Test func theStoryAsJSON() throws { try tell(" --format json", "control.json") }

  private func tell(_ format: String, _ golden: String) throws {
    var text = ""
    for command in Self.story {
      let isBare = command.hasSuffix("--ids")
      let outcome = try run(command + (isBare ? "" : format))
      #expect(outcome.code == 0, "\(command): \(outcome.err)")
      text += "$ \(command)\n\(outcome.out)\(outcome.err)"
    }
    let time = /20(?!25)\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{3})?(Z|[+-]\d\d:\d\d)?/
    try Golden.expect(golden, text.replacing(time, with: "TIME"), hiding: store)
    #expect(try run("store check").code == 0)
  }

  @Test func aRetryOfNothingSaysWhatElseThereIs() throws {
    #expect(try run("rm f2 f4").code == 0)
    #expect(
      try run("retry --all").err
        == "nothing to retry: no failed file, but 1 unknown; those are tried again with --state unknown\n")
    #expect(try run("cancel f5").code == 0)
    let outcome = try run("retry --all --fail-if-empty")
    #expect(outcome.code == 9)
    #expect(outcome.err.contains("1 cancelled and 1 unknown; those are tried again with --state cancelled,unknown"))
    #expect(try run("retry --state failed").err == "nothing matched\n")
    #expect(try run("retry --path /data/a.bin -n").err == "nothing to retry: 1 done\n")
  }

  @Test(arguments: [
    ("pause", "pause needs to know which files; --all would pause 1 file. Try: transfers pause --last, or --all"),
    ("resume", "--all would resume 0 files"), ("cancel", "--all would cancel 2 files"),
    ("rm", "--all would remove 5 files"), ("retry", "--all would retry 1 file"),
    ("resolve --done --reason x", "resolve needs to know which files; --all would resolve as done 1 file"),
    ("resolve f3 --done", "--reason"), ("resolve f3 --reason x", "one of --done, --retry and --cancel"),
    ("resolve f3 --done --retry --reason x", "one of --done"), ("resolve f3 --done --reason=", "has no value"),
    ("resolve --state failed --done --reason x", "only unknown files can be resolved"),
    ("set --rate 1M", "--all would change 2 batches"), ("wait", "wait needs a selection"),
    ("gc --abort", "gc --abort needs to know which sessions; --all would abort"),
    ("set b1", "set needs something to change"), ("set f1 --rate 1M", "not files. Try: transfers set b1 …"),
    ("set b1 --rate fast", #""fast" is not"#), ("set b1 --workers 0", #""0" is out of range"#),
    ("set b1 --workers 257", #""257" is out of range"#), ("set b1 --label =x", "is not key=value"),
    ("set b1 --deadline soon", #"--deadline "soon" is not a time"#), ("set b1 --deadline 2001-01-01", "is past"),
    ("pause f9", "no such file: f9"), ("cancel a1", #""a1" does not select files"#),
    ("rm --state gone", "no file state"),
    ("retry --state backoff", "retried automatically"), ("retry f1 --state done,failed", "done cannot be retried"),
    ("wait f1 --timeout soon", #""soon" is not"#), ("wait f1 --for ever", #""ever" is not"#),
    ("follow --until 1h", "leave out --until"), ("list --ids --json", "print only IDs"),
    ("list --print0 --columns id", "print only IDs"), ("clean f9", "no such file: f9"),
  ])
  func wrongUseIsOneLine(_ command: String, _ part: String) throws {
    let outcome = try run(command)
    #expect(outcome.code == 64)
    #expect(outcome.out.isEmpty)
    #expect(outcome.err.contains(part), "\(outcome.err)")
    #expect(outcome.err.split(separator: "\n").count == (command.hasSuffix("--json") ? 2 : 1))
    #expect(try run("list events --ids").out == "e1\ne2\n")
  }

  @Test(arguments: ["pause", "retry", "clean", "set --rate 1M", "wait"])
  func nothingMatchedIsSaid(_ verb: String) throws {
    let plain = try run("\(verb) --host nowhere")
    #expect((plain.code, plain.out, plain.err) == (0, "", "nothing matched\n"))
    #expect(try run("\(verb) --host nowhere -q").err.isEmpty)
    let failing = try run("\(verb) --host nowhere --fail-if-empty")
    #expect(failing.code == 9)
    #expect(failing.err.hasPrefix("transfers: error[empty]: nothing matched. Try: "))
    let document = try run("\(verb) --host nowhere --json")
    #expect(document.code == 0)
    #expect(document.out.contains(#""filters":{"host":"nowhere"}"#))
  }

  @Test func aPlanChangesNothing() throws {
    let before = try run("list files --json --columns id,state").out.split(separator: "generated_at").first
    for verb in ["pause f5", "cancel --all", "retry f2", "rm --all", "clean --failed", "set --all --rate 1M"] {
      let outcome = try run("\(verb) --dry-run")
      #expect(outcome.code == 0)
      #expect(outcome.out.contains("would "), "\(outcome.out)")
    }
    #expect(try run("list files --json --columns id,state").out.split(separator: "generated_at").first == before)
    #expect(try run("list events").out.contains("paused") == false)
  }

  @Test func idsTravelThroughAPipe() throws {
    let ids = try run("list files --state failed,unknown --ids").out
    #expect(ids == "f2\nf3\nf4\n")
    #expect(try run("list files --state failed,unknown --print0").out == "f2\0f3\0f4\0")
    #expect(try run("list attempts --ids --limit 2").out == "a1\na2\n")
    let outcome = try run("retry -", input: ids)
    #expect(outcome.out.hasPrefix("2 files will be tried again\nunchanged: 1 failed\n1 file cannot be retried: "))
    #expect(outcome.out.hasSuffix("Next: transfers run\n"))
    #expect(try run("list batches --ids").out == "b1\nb2\n")
    #expect(try run("pause -", input: "").err == "nothing matched\n")
  }

  @Test func whatIsHiddenIsNotTakenBySurprise() throws {
    _ = try run("clean --failed")
    #expect(try run("retry --all").err.hasPrefix("nothing to retry: no failed file, but 1 unknown; "))
    #expect(try run("retry f2").out == "1 file will be tried again\nNext: transfers run\n")
    #expect(try run("list files").out.contains("f2 "))
  }

  @Test func theNamesOfTheSameVerbs() throws {
    #expect(try run("delete f5").out == "1 file hidden; reports still count them\n")
    #expect(try run("clear").out.hasPrefix("1 file hidden"))
  }

  @Test func theNextCommandCanBeTyped() throws {
    let outcome = try run("pause --dest *q* --path x* --since 2025-11-20")
    #expect(
      outcome.out.hasSuffix("Next: transfers resume --dest '*q*' --path 'x*' --since 2025-11-20\n"), "\(outcome.out)")
  }

  private func run(_ command: String, input: String? = nil) throws -> BuiltProgram.Outcome {
    try program.run(
      (command.split(separator: " ").map { Array($0.utf8) }) + [Array("--store".utf8), Array(store.utf8)], input: input)
  }
}
