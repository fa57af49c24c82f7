import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// An option is applied or refused, never silently ignored.
@Suite struct ForeignOptionTests {
  let program: BuiltProgram
  private var folder: String { program.folder.path }
  private var store: String { folder + "/l.db" }
  private var source: String { folder + "/src" }

  init() throws {
    program = try BuiltProgram()
    mkdir(source, 0o700)
    try writeFile(source + "/a", [0x61])
  }

  private func add(_ options: [String], _ destination: String, _ environment: [String: String] = [:]) throws
    -> BuiltProgram.Outcome
  {
    let arguments = ["add"] + options + [source, destination, "--store", store]
    return try program.run(arguments.map { Array($0.utf8) }, environment: environment)
  }

  @Test(
    arguments: [
      ("http://h/", "--region", "eu"), ("http://h/", "--profile", "p"), ("https://h/", "--endpoint-url", "http://e"),
      ("http://h/", "--path-style", nil), ("http://h/", "--no-path-style", nil),
      ("http://h/", "--unsigned-payload", nil),
      ("s3://bucket/", "--auth", "bearer=env:T"), ("http://h/", "--part-size", "8M"),
      ("post+http://h/", "--part-size", "8M"),
      ("form+http://h/", "--part-size", "8M"), ("dav+http://h/", "--part-size", "8M"),
      ("resumable+http://h/", "--expect-continue", nil), ("form+http://h/", "--expect-continue", nil),
      ("http://h/", "--field", "a=b"),
      ("tus+http://h/", "--if-none-match", nil),
      ("http://h/", "--parallel", nil), ("tus+http://h/", "--interop", "9"),
    ] as [(String, String, String?)])
  func whatADestinationDoesNotKnowIsRefused(_ destination: String, _ option: String, _ value: String?) throws {
    let outcome = try add([option] + [value].compactMap(\.self), destination)
    #expect(outcome.code == 64)
    let name = option.replacing("--no-path", with: "--path")
    #expect(
      outcome.err.hasPrefix(
        "transfers: error[usage]: read \(name): not supported for this destination. Try: leave it out"),
      "\(outcome.err)")
    #expect(access(store, F_OK) != 0)
  }

  @Test func aProfileSaysWhatItSends() throws {
    let outcome = try add(["--via", "nextcloud", "--input", "user=u", "--auth", "bearer=env:T"], "http://h/")
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("read --auth: not supported for this destination. Try: give the profile its secrets"))
  }

  @Test(
    arguments: [
      ("s3://bucket/", "--part-size", "8M"), ("tus+http://h/", "--part-size", "8M"),
      ("http://h/", "--auth", "bearer=env:T"),
      ("http://h/", "--expect-continue", nil), ("resumable+http://h/", "--if-none-match", nil),
      ("s3://bucket/", "--region", "eu"), ("form+http://h/", "--field", "a=b"), ("http://h/", "--content-type", "auto"),
    ] as [(String, String, String?)])
  func whatItKnowsIsTaken(_ destination: String, _ option: String, _ value: String?) throws {
    let outcome = try add([option] + [value].compactMap(\.self), destination)
    #expect(outcome.code == 0, "\(outcome.err)")
  }

  @Test func theEnvironmentIsForManyDestinations() throws {
    let variables = [
      "TRANSFERS_REGION": "eu", "TRANSFERS_PROFILE": "none", "TRANSFERS_PATH_STYLE": "0", "TRANSFERS_PART_SIZE": "8M",
      "TRANSFERS_FIELD": "a=b", "TRANSFERS_DIGEST": "sha-256", "TRANSFERS_NO_PARALLEL": "1", "TRANSFERS_INPUT": "a=b",
      "TRANSFERS_MISSING": "skip",
    ]
    let outcome = try add(["-v"], "http://h/", variables)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(!outcome.err.contains("gives"), "\(outcome.err)")
    let typed = try add(["--region", "eu"], "http://h/", variables)
    #expect(typed.code == 64)
  }

  @Test(arguments: [
    (["add", "-n", "SRC", "form+http://h/"], "TRANSFERS_FIELD", "--field=a=b"),
    (["add", "-n", "SRC", "s3://bucket/"], "TRANSFERS_REGION", "--region=a=b"),
    (["report", "throughput"], "TRANSFERS_BUCKET", "--bucket=1m"),
    (["report", "files"], "TRANSFERS_LIMIT", "--limit=1"),
  ])
  func whereItMeansSomethingItCounts(_ typed: [String], _ variable: String, _ given: String) throws {
    let value = String(given.drop { $0 != "=" }.dropFirst())
    let context = Context(
      arguments: typed, environment: [variable: value], out: OutputStream(descriptor: -1),
      err: OutputStream(descriptor: -1), clock: StillClock(0))
    #expect(try ArgumentLine(context).arguments.contains(given))
  }

  @Test func aReportIsNotStoppedByTheLimitOfAnother() throws {
    let path = try FilledLedger(in: program.folder).path
    let variables = ["TRANSFERS_LIMIT": "1", "TRANSFERS_BUCKET": "1m"]
    #expect(try program.run("report", "--store", path, environment: variables).code == 0)
    #expect(
      try program.run("report", "files", "--store", path, environment: variables).out.split(separator: "\n").count == 2)
    let bad = try program.run("list", "--store", path, environment: ["TRANSFERS_SINCE": "bogus"])
    #expect(bad.code == 64)
    #expect(bad.err.hasPrefix(#"transfers: error[usage]: TRANSFERS_SINCE "bogus" is not a time"#), "\(bad.err)")
    let typed = try program.run("list", "--until", "x", "--store", path, environment: ["TRANSFERS_UNTIL": "1h"])
    #expect(typed.err.contains(#"--until "x" is not a time"#), "\(typed.err)")
  }

  @Test(arguments: [
    ["push", "--name=", "SRC", "http://h/"], ["add", "SRC", "http://h/", "--exclude="], ["--store=", "status"],
    ["list", "--state="], ["set", "--deadline=", "--last"],
  ])
  func anOptionWithoutItsValueTakesNoOther(_ typed: [String]) throws {
    let outcome = try program.run(typed.map { Array($0.replacing("SRC", with: source).utf8) })
    let option = typed.first { $0.hasSuffix("=") } ?? ""
    #expect(outcome.code == 64)
    #expect(
      outcome.err
        == "transfers: error[usage]: \(option) has no value. Try: give \(option.dropLast()) a value, or leave it out\n")
  }

  /// As from a variable of a script that is not set.
  @Test(arguments: [
    ["rm", "-n", "--dest", ""], ["cancel", "--batch", "b1", "--state", ""], ["rm", "--last", "--error", ""],
    ["retry", "--host", ""], ["list", "--dest", "up", "--path", ""], ["add", "--name", "", "SRC", "http://h/"],
    ["pull", "http://h/a", "DIR/", "--name", ""], ["status", "-o", ""], ["run", "--rate", "", "--batch", "b1"],
  ])
  func anEmptyValueIsNone(_ typed: [String]) throws {
    let path = try FilledLedger(in: program.folder).path
    let rows = ["store", "sql", "SELECT id, state, hidden FROM file", "--store", path].map { Array($0.utf8) }
    let before = try program.run(rows).out
    let words = typed.map { $0.replacing("SRC", with: source).replacing("DIR", with: program.folder.path) }
    let outcome = try program.run((words + ["--store", path]).map { Array($0.utf8) })
    let index = try #require(typed.firstIndex(of: ""))
    let option = typed[index - 1] == "-o" ? "--output" : typed[index - 1]
    #expect(outcome.code == 64)
    #expect(
      outcome.err
        == "transfers: error[usage]: \(option) has no value. Try: give \(option) a value, or leave it out\n")
    #expect(try program.run(rows).out == before)
  }

  @Test(arguments: [
    ["rm", "--state", ",", "--last"], ["list", "--error", ",,"], ["cancel", "--batch", "b1", "--state=,"],
  ])
  func aListOfNothingIsNoCondition(_ typed: [String]) throws {
    let path = try FilledLedger(in: program.folder).path
    let outcome = try program.run((typed + ["--store", path]).map { Array($0.utf8) })
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("has no value; give --"), "\(outcome.err)")
  }

  @Test func anEmptyPartOfAValueIsAValue() throws {
    let path = try FilledLedger(in: program.folder).path
    #expect(try program.run("set", "b1", "--label=lane=", "--store", path).code == 0)
    #expect(try program.run("list", "--store", path, "--", "f1").code == 0)
  }
}
