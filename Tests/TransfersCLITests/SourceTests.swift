import Glibc
import Testing
import TransferLedger
import TransferModel

/// Which sources are accepted, through the built program; nothing is sent.
@Suite struct SourceTests {
  let program: BuiltProgram
  private var folder: String { program.folder.path }
  private var store: String { folder + "/l.db" }
  private static let destination = "http://127.0.0.1:1/in/"

  init() throws {
    program = try BuiltProgram()
    for name in ["src", "src/a", "src/b"] { mkdir(folder + "/" + name, 0o700) }
    for name in ["src/1", "src/a/1", "src/b/2"] { try writeFile(folder + "/" + name, Array("content".utf8)) }
  }

  private func add(_ arguments: String..., input: String? = nil) throws -> BuiltProgram.Outcome {
    try program.run(
      (["add"] + arguments + [Self.destination, "--store", store]).map { Array($0.utf8) }, input: input)
  }

  /// The keys of all files, in order.
  private func keys() throws -> [String] {
    let out = try program.run("list", "files", "--all", "--json", "--store", store).out
    return out.split(separator: "\"key\":\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
  }

  private func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

  @Test func severalSourcesKeepTheirPathsBelowWhatTheyShare() throws {
    let outcome = try add("\(folder)/src/a", "\(folder)/src/b/2", "\(folder)/src/a/")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.out.hasPrefix("b1: 2 new, 0 unchanged, 14 B to "))
    #expect(try keys() == ["in/a/1", "in/b/2"])
  }

  @Test func aSourceThatCannotBeLookedAtHoldsBackNoOther() throws {
    symlink("loop", folder + "/src/loop")
    mkfifo(folder + "/src/fifo", 0o600)
    let outcome = try add("\(folder)/src/loop", "\(folder)/src/a", "\(folder)/src/fifo")
    #expect(outcome.code == 3, "\(outcome)")
    #expect(outcome.out.hasPrefix("b1: 1 new, 0 unchanged, 1 failed, 1 skipped, "), "\(outcome)")
    #expect(outcome.err.contains("/src/loop: source.kind: too many symbolic links"), "\(outcome.err)")
    #expect(try keys() == ["in/loop", "in/a/1"])
    #expect(try add("\(folder)/src/loop").code == 66, "as the only source it is an error")
    #expect(try add("\(folder)/src/a", "\(folder)/none").code == 66, "so is a name that does not exist")
  }

  @Test func aQuotedPatternIsExpandedAndAFileInAnotherSourceIsTakenOnce() throws {
    let outcome = try add("\(folder)/src/*", "\(folder)/src/a/1")
    #expect(outcome.out.hasPrefix("b1: 3 new, 0 unchanged, 1 named again, "), "\(outcome.out)\(outcome.err)")
    #expect(try keys() == ["in/1", "in/a/1", "in/b/2"])
  }

  @Test(arguments: ["-", "--files-from=-", "--files-from0=-"])
  func standardInputIsAList(_ argument: String) throws {
    let separator = argument.contains("0") ? "\0" : "\n"
    let input = ["a/1", "1", "a/1"].map { $0 + separator }.joined()
    let outcome = try add(argument, "--base", folder + "/src", input: input)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.out.hasPrefix("b1: 2 new, 0 unchanged, 1 named again, "), "\(outcome.out)")
    #expect(try keys() == ["in/a/1", "in/1"])
  }

  @Test func aListWithAMissingFileRecordsNothing() throws {
    try writeFile(folder + "/list", Array("1\ngone\nb/2\n".utf8))
    let refused = try add("--files-from", folder + "/list", "--base", folder + "/src")
    #expect(refused.code == 66)
    #expect(
      refused.err
        == "transfers: error[no_source]: read list \"\(folder)/list\": 1 of its files does not exist (line 2), first \"gone\". "
        + "Try: correct the list, or skip them with --missing skip; nothing was recorded\n")
    #expect(!isThere(store))
    let skipped = try add("--files-from", folder + "/list", "--base", folder + "/src", "--missing", "skip")
    #expect(skipped.code == 3)
    #expect(skipped.out.hasPrefix("b1: 2 new, 0 unchanged, 1 failed, "))
    #expect(try keys() == ["in/1", "in/gone", "in/b/2"])
  }

  @Test(arguments: [("1\na\n", "line 2: \"a\" is a folder"), ("a\0b\n", "line 1: it holds a NUL")])
  func aWrongListIs65AndRecordsNothing(_ list: String, _ cause: String) throws {
    let outcome = try add("-", "--base", folder + "/src", input: list)
    #expect(outcome.code == 65)
    #expect(
      outcome.err.hasPrefix("transfers: error[bad_list]: read list \"standard input\": \(cause)"), "\(outcome.err)")
    #expect(outcome.err.split(separator: "\n").count == 1)
    #expect(!isThere(store))
  }

  @Test func twoFilesForOneObjectRecordNothing() throws {
    let outcome = try program.run(
      "add", "\(folder)/src", "http://127.0.0.1:1/up?name={name}", "--store", store)
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("/src/a/1\": it has the same key \"1\" as \"\(folder)/src/1\""), "\(outcome.err)")
    #expect(!isThere(store))
  }

  /// A device may yield empty names endlessly.
  @Test(arguments: ["\0", "\n"]) func aListOfEmptyNamesEnds(_ separator: String) throws {
    let option = separator == "\0" ? "--files-from0" : "--files-from"
    func list(_ count: Int) -> String { String(repeating: separator, count: count) + "\(folder)/src/1" + separator }
    let outcome = try add(option, "-", input: list(65_537))
    #expect(outcome.code == 65 && outcome.err.contains("65536 empty names"), "\(outcome.err)")
    #expect(try add(option, "-", input: list(65_536)).code == 0)
  }

  @Test func nothingNewLeavesNoBatch() throws {
    #expect(try add("\(folder)/src").code == 0)
    for _ in 0..<2 {
      let again = try add("\(folder)/src", "--name", "nightly")
      #expect(again.code == 0, "\(again.err)")
      #expect(again.out == "0 new, 0 unchanged, 3 already queued, 0 B to \(Self.destination)\n")
    }
    #expect(try program.run("list", "batches", "--store", store).out.split(separator: "\n").count == 2)
    try writeFile(folder + "/src/new", [1])
    #expect(try add("\(folder)/src", "--name", "nightly").out.hasPrefix("b2: 1 new, 0 unchanged, 3 already queued"))
    let json = try add("\(folder)/src", "--name", "nightly", "--json").out
    #expect(json.contains(#""batch":"b2""#), "\(json)")
    let elsewhere = try program.run(
      "add", "\(folder)/src", "http://127.0.0.1:1/other/", "--name", "nightly", "--store", store)
    #expect(elsewhere.code == 64)
  }

  @Test func thePlanCountsWhatTheAddThenDoes() throws {
    try writeFile(folder + "/src/x.tmp", [1])
    symlink("1", folder + "/src/link")
    let plan = { try self.add("--dry-run", "--exclude", "*.tmp", "\(self.folder)/src") }
    let first = try plan()
    #expect(first.code == 0, "\(first.err)")
    #expect(!isThere(store))
    #expect(
      first.out.hasSuffix(
        "would send 3 files (3 new, 0 changed), 21 B in 3 chunks, 3 requests; 0 unchanged, 1 skipped, "
          + "1 excluded (1 by --exclude *.tmp)\n"), "\(first.out)")
    #expect(!first.out.contains("x.tmp"))
    #expect(try add("-n", "-v", "--exclude", "*.tmp", "\(folder)/src").out.contains("excluded: --exclude *.tmp"))
    #expect(
      try add("--exclude", "*.tmp", "\(folder)/src").out.hasPrefix("b1: 3 new, 0 unchanged, 1 skipped, 1 excluded"))
    #expect(try plan().out.contains("would send 0 files (0 new, 0 changed)"))
    #expect(try plan().out.contains("3 already queued"))
  }

  @Test func aPlanSaysWhichFilesGoOn() throws {
    #expect(try add("\(folder)/src").code == 0)
    let ledger = try Ledger.open(at: store, mode: .existing, clock: StillClock(1 << 41))
    let run = try ledger.startRun(NewRun(argv: ["run"], version: "0", host: "h", bootID: "b", pid: 1))
    _ = try ledger.write { tx in
      for file in try tx.claimFiles(run, limit: 2) {
        _ = try tx.failFile(file.id, run, code: .http403, message: "no", keepsSession: false)
      }
      return try tx.endRun(run, how: "done")
    }
    ledger.close()
    let plan = try add("--dry-run", "\(folder)/src").out
    #expect(plan.contains("would send 2 files (0 new, 0 changed, 2 that failed before), "), "\(plan)")
    #expect(plan.split(separator: "\n").count { $0.hasPrefix("requeued ") } == 2, "\(plan)")
    #expect(try add("--dry-run", "\(folder)/src", "--json").out.contains(#""requeued":2"#))
    // With other settings the files count as new. `add` with the same settings counts them as failed, like its dry run.
    let other = try add("--dry-run", "--label", "a=b", "\(folder)/src").out
    #expect(other.contains("would send 2 files (2 new, 0 changed), "), "\(other)")
    #expect(try add("\(folder)/src").out.contains("2 that failed before"))
  }

  @Test func aPlanOfAnS3UploadCountsItsRequests() throws {
    #expect(truncate(folder + "/src/1", 40 << 20) == 0)
    let outcome = try program.run(
      "add", "-n", "\(folder)/src/1", "s3://bucket/in/", "--part-size", "8M", "--region", "eu-west-1", "--store", store)
    #expect(outcome.out.contains("in 5 chunks, 7 requests"), "\(outcome.out)\(outcome.err)")
  }

  /// As other programs name their configured places.
  @Test(arguments: [
    ("remote:path", "no destination \"remote\" in the configuration", "add it under \"destinations\""),
    ("s3:bucket/x", "no destination \"s3\" in the configuration", "Try: s3://"),
  ])
  func aPlaceThatIsNotConfiguredIsNamed(_ destination: String, _ cause: String, _ remedy: String) throws {
    let outcome = try program.run("add", folder + "/src", destination, "--store", store)
    #expect(outcome.code == 64 && outcome.err.contains(cause) && outcome.err.contains(remedy), "\(outcome.err)")
    let source = try program.run("pull", "remote:a", folder, "--store", store)
    #expect(source.code == 64 && source.err.contains("no source \"remote\" in the conf"), "\(source.err)")
  }

  @Test(arguments: [
    (["--files-from", "x", "--files-from0", "y"], "contradict each other"), (["--files-from", "x", "src"], "not both"),
    (["-", "src"], "cannot be combined with sources"), (["--missing", "skip", "src"], "is for lists"),
    (["--exclude", "[", "src"], "\"[\" without \"]\""), (["--missing", "maybe", "-"], #""maybe" is not one of"#),
  ])
  func contradictionsAre64(_ arguments: [String], _ part: String) throws {
    let arguments = arguments.map { $0 == "src" ? folder + "/src" : $0 }
    let outcome = try program.run((["add"] + arguments + ["http://h/", "--store", store]).map { Array($0.utf8) })
    #expect(outcome.code == 64, "\(outcome.err)")
    #expect(outcome.err.contains(part), "\(outcome.err)")
    #expect(!isThere(store))
  }

  @Test func theTopicExplainsKeys() throws {
    let text = try program.run("help", "sources").out
    for word in ["--files-from0", "--base", "--missing skip", "data/x/1 -> in/x/1"] { #expect(text.contains(word)) }
  }
}
