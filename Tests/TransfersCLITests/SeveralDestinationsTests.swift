import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// Jobs with several destinations, judged by what each server has stored.
@Suite struct SeveralDestinationsTests {
  private let program: BuiltProgram
  private let one: RunningReceiver
  private var folder: String { program.folder.path }
  private var source: String { folder + "/source" }
  private var config: String { folder + "/config.yaml" }

  init() throws {
    program = try BuiltProgram()
    one = try RunningReceiver(in: try TemporaryFolder(), isRecorded: true)
    mkdir(program.folder.path + "/source", 0o700)
    for name in ["a", "b"] { try writeFile(source + "/" + name, Array(name.utf8)) }
  }

  private func receiver(_ script: String = "") throws -> RunningReceiver {
    try RunningReceiver(in: try TemporaryFolder(), script: script, isRecorded: true)
  }

  /// A job `nightly` from the source, with the destinations `one` and `two` for it.
  private func configure(_ two: String, to: String = "[one, \"two:in\"]", _ more: String = "") throws {
    let text = """
      destinations: {one: {url: "\(one.url)/up/"}, two: {url: "\(two)/"}}
      jobs: {nightly: {from: \(source), to: \(to)\(more)}}
      """
    try writeFile(config, Array(text.utf8))
    chmod(config, 0o600)
  }

  private func words(_ words: [String]) -> [String] { words + ["--config", config, "--store", folder + "/l.db"] }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome {
    try program.run(self.words(words).map { Array($0.utf8) })
  }

  private func job(_ more: String...) throws -> BuiltProgram.Outcome {
    try program.run(words(["job", "run", "nightly", "--no-syslog"] + more).map { Array($0.utf8) })
  }

  private func stored(_ receiver: RunningReceiver, _ name: String) -> String? {
    try? readText(receiver.root + "/" + name)
  }
  private func isThere(_ name: String) -> Bool { access(source + "/" + name, F_OK) == 0 }

  @Test func eachFileGoesToEachDestinationOnce() throws {
    let two = try receiver()
    try configure(two.url)
    let first = try job("-v")
    #expect(first.code == 0, "\(first.err)")
    #expect(first.out.contains(" batch=b1,b2 result=ok files=4 done=4 "), "\(first.out)")
    #expect((stored(one, "up/a"), stored(one, "up/b")) == ("a", "b"))
    #expect((stored(two, "in/a"), stored(two, "in/b")) == ("a", "b"))
    #expect(try job("-v").out.contains(" batch=- result=ok files=0 "))
    try writeFile(source + "/b", Array("changed".utf8))
    #expect(try job("-v").out.contains(" batch=b3,b4 result=ok files=2 done=2 "))
    #expect((stored(one, "up/b"), stored(two, "in/b")) == ("changed", "changed"))
    #expect(try (one.commits(), two.commits()) == (3, 3))
    let shown = try run("job", "show", "nightly").out
    #expect(shown.contains("one, two:in"), "\(shown)")
    #expect(try run("config", "show").out.contains("one, two:in"))
    #expect(try run("store", "check").code == 0)
  }

  @Test func aDestinationThatIsAddedLaterGetsWhatIsThere() throws {
    let two = try receiver()
    try configure(two.url, to: "one")
    #expect(try job().code == 0)
    try configure(two.url)
    let plan = try run("job", "run", "-n", "nightly")
    #expect(plan.out.contains("would send 2 files") && plan.out.contains("2 unchanged"), "\(plan.out)")
    #expect(try job().code == 0)
    #expect(try (one.commits(), two.commits()) == (2, 2))
  }

  /// The second server refuses each file once.
  @Test func aSourceStaysUntilAllHaveIt() throws {
    let two = try receiver("match PUT * nth=1 per=path : status=400\n")
    try configure(two.url, ", after: delete")
    let first = try job("-v")
    #expect(first.code == 3 && first.out.contains(" done=2 failed=2 "), "\(first.out)\(first.err)")
    #expect(stored(one, "up/a") == "a" && isThere("a") && isThere("b"))
    #expect(try run("clean", "--failed", "--state", "failed").code == 0)
    #expect(try run("run").code == 0)
    #expect(isThere("a") && isThere("b"), "a hidden failure does not count as a delivery")
    let check = try run("check", "--job", "nightly")
    #expect(check.out.contains(" to_remove=2;;;0 put_off=2;;;0 "), "\(check.out)")
    #expect(check.out.contains("put off: a destination does not have it: \(two.url)/in (job nightly)"), "\(check.out)")
    #expect(try job().code == 0)
    #expect(stored(two, "in/a") == "a" && stored(two, "in/b") == "b")
    #expect(!isThere("a") && !isThere("b"))
    #expect(try (one.commits(), two.commits()) == (2, 2))
    #expect(try run("store", "check").code == 0)
  }

  /// A run that has nothing to send removes what no longer waits for a destination.
  @Test func aDestinationThatIsGoneFromTheListIsNotWaitedFor() throws {
    let two = try receiver("match PUT * : status=400\n")
    try configure(two.url, ", after: delete")
    #expect(try job().code == 3)
    #expect(try run("clean", "--failed", "--state", "failed").code == 0)
    try configure(two.url, to: "[one]", ", after: delete")
    #expect(try job().code == 0)
    #expect(!isThere("a") && !isThere("b"))
    #expect(try (one.commits(), two.commits()) == (2, 0))
  }

  /// Nothing listens at the second destination.
  @Test func aDeadDestinationHoldsNothingUp() throws {
    try configure("http://127.0.0.1:1", ", after: delete")
    let first = try job("-v")
    #expect(first.code == 5, "\(first.err)")
    #expect(first.out.contains(" done=2 failed=0 unknown=0 left=2 "), "\(first.out)")
    #expect(try one.commits() == 2)
    #expect(isThere("a") && isThere("b"))
  }

  /// Nothing can be sent to the second destination without its credential. The first one gets its files, and the run
  /// reports both.
  @Test func aCredentialThatIsMissingHoldsNothingUp() throws {
    let text = """
      destinations: {one: {url: "\(one.url)/up/"}, two: {url: "\(one.url)/in/", auth: "bearer=file:\(folder)/none"}}
      jobs: {nightly: {from: \(source), to: [two, one]}}
      """
    try writeFile(config, Array(text.utf8))
    chmod(config, 0o600)
    let first = try job("-v")
    #expect(first.code != 0 && first.err.contains("/none"), "\(first.code) \(first.err)")
    #expect(first.out.contains(" done=2 "), "\(first.out)")
    #expect(stored(one, "up/a") == "a" && stored(one, "in/a") == nil)
  }

  /// A destination that the job no longer has cannot be reached; the other one counts.
  @Test func aCredentialOfAFormerDestinationHoldsNothingUp() throws {
    let text = """
      destinations: {one: {url: "\(one.url)/up/"}, two: {url: "\(one.url)/in/", auth: "bearer=file:\(folder)/none"}}
      jobs: {nightly: {from: \(source), to: [two, one]}}
      """
    try writeFile(config, Array(text.utf8))
    chmod(config, 0o600)
    #expect(try job().code != 0)
    try writeFile(config, Array(text.replacing("[two, one]", with: "[one]").utf8))
    try writeFile(source + "/c", Array("c".utf8))
    let second = try job("-v")
    #expect(second.code != 0 && second.err.contains("/none"), "\(second.code) \(second.err)")
    #expect(second.out.contains(" done=1 "), "\(second.out)")
    #expect(stored(one, "up/c") == "c")
  }

  /// The URL of one is written in another way when the other has caught up.
  @Test func anotherSpellingOfADestinationIsTheSame() throws {
    let two = try receiver("match PUT * nth=1 per=path : status=400\n")
    try configure(two.url, ", after: delete")
    #expect(try job().code == 3)
    try writeFile(config, Array(try readText(config).replacing("/up/\"", with: "/up\"").utf8))
    let second = try job()
    #expect(second.code == 0, "\(second.err)")
    #expect(!isThere("a") && !isThere("b"))
    #expect(try (one.commits(), two.commits()) == (2, 2))
  }

  /// The row of the last scan has the files for all prefixes of a place.
  @Test func aScanCountsAllPrefixesOfAPlace() throws {
    try configure(one.url, to: "\"two:a\"")
    #expect(try job().code == 0)
    try configure(one.url, to: "[\"two:b\", \"two:a\"]")
    #expect(try job().code == 0)
    #expect(stored(one, "b/a") == "a")
    let scan = try run("store", "sql", "SELECT new || '/' || unchanged || '/' || files FROM scan")
    #expect(scan.out.contains("2/2/4"), "\(scan.out)\(scan.err)")
  }

  /// Two accounts at one URL.
  @Test func aPlanTellsAccountsApart() throws {
    for name in ["x", "y"] { try writeFile(folder + "/" + name, Array("secret\(name)".utf8)) }
    for name in ["x", "y"] { chmod(folder + "/" + name, 0o600) }
    let text = """
      destinations:
        one: {url: "\(one.url)/up/", auth: "bearer=file:\(folder)/x"}
        two: {url: "\(one.url)/up/", auth: "bearer=file:\(folder)/y"}
      jobs: {nightly: {from: \(source), to: [one, two]}}
      """
    try writeFile(config, Array(text.utf8))
    chmod(config, 0o600)
    let plan = folder + "/plan.jsonl"
    #expect(try run("job", "plan", "nightly", "-q", "-o", plan).code == 0)
    let outcome = try job("-v", "--plan", plan)
    #expect(outcome.code == 0 && outcome.out.contains(" done=4 "), "\(outcome.out)\(outcome.err)")
    #expect(try one.commits() == 4)
    let lines = try readText(plan).split(separator: "\n").map(String.init)
    #expect(!lines[0].contains("bearer"))
    // One destination twice.
    let id = try #require(lines[0].firstMatch(of: /"id":"([^"]+)"/)).output.1
    let last = try #require(lines[0].matches(of: /"id":"([^"]+)"/).last).output.1
    try writeFile(plan, Array(lines.joined(separator: "\n").replacing(last, with: id).utf8))
    let twice = try job("--plan", plan)
    #expect(twice.code == 65 && twice.err.contains("names the same destination twice"), "\(twice.err)")
  }

  @Test func aRunThatIsKilledBetweenTheTwoIsContinued() throws {
    let two = try receiver("match PUT * times=2 : hold=second\n")
    try configure(two.url, ", after: delete")
    let running = try program.start(words(["job", "run", "nightly", "--no-syslog"]))
    try two.waitUntilHeld("second", count: 2)
    let endMs = SystemClock().bootMs + 60_000
    while try run("list", "files", "--state", "done", "--ids").out.split(separator: "\n").count < 2 {
      guard SystemClock().bootMs < endMs else { throw SystemFailure("wait for both files") }
    }
    running.signal(SIGKILL)
    _ = try running.wait()
    #expect(isThere("a") && isThere("b"))
    try two.release("second")
    let again = try job()
    #expect(again.code == 0, "\(again.err)")
    #expect(stored(two, "in/a") == "a" && stored(two, "in/b") == "b")
    #expect(!isThere("a") && !isThere("b"))
    #expect(try one.commits() == 2)
    #expect(try run("store", "check").code == 0)
  }

  @Test func aPlanNamesTheDestinationOfEachFile() throws {
    let two = try receiver()
    try configure(two.url)
    let plan = folder + "/plan.jsonl"
    #expect(try run("job", "plan", "nightly", "-q", "-o", plan).code == 0)
    let lines = try readText(plan).split(separator: "\n").map(String.init)
    #expect(lines.count == 6 && lines[5] == #"{"files":4}"#, "\(lines)")
    #expect(lines.count { $0.contains(#","to":1,"#) } == 2 && lines.count { $0.contains(#","to":2,"#) } == 2)
    // Without the second file for the first destination.
    let kept = lines.filter { !($0.contains(#","to":1,"#) && $0.contains(#"/b","#)) }
    try writeFile(plan, Array((kept.dropLast() + [#"{"files":3}"#]).joined(separator: "\n").utf8))
    for wrong in ["0", "3", "-9223372036854775808"] {
      let text = kept.joined(separator: "\n").replacing(#","to":2,"#, with: #","to":\#(wrong),"#)
      try writeFile(folder + "/wrong", Array(text.utf8))
      let outcome = try job("--plan", folder + "/wrong")
      #expect(outcome.code == 65 && outcome.err.contains("the number of one of its destinations"), "\(outcome.err)")
    }
    let outcome = try job("--plan", plan)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect((stored(one, "up/a"), stored(one, "up/b")) == ("a", nil))
    #expect((stored(two, "in/a"), stored(two, "in/b")) == ("a", "b"))
  }

  @Test(arguments: [
    ("[one, one]", "", "\"to\" names \"one\" twice"), ("[one, \"two:in\"]", ", name: x", "\"name\" names one batch"),
    ("[one, three]", "", "different values of \"rate\""), ("[one, tow]", "", "no destination \"tow\""),
    ("[]", "", "\"to\" takes text, or a list of texts"),
    ("[/d, /e]", ", direction: download", "\"to\" takes text"),
  ]) func whatCannotBeIsRefused(_ to: String, _ more: String, _ message: String) throws {
    let text = """
      destinations: {one: {url: "\(one.url)/up/"}, two: {url: "http://h.example/"}, three: {url: "http://i.example/", rate: 1M}}
      jobs: {nightly: {from: \(more.contains("download") ? "http://h.example/x" : source), to: \(to)\(more)}}
      """
    try writeFile(config, Array(text.utf8))
    chmod(config, 0o600)
    let checked = try run("config", "check")
    #expect(checked.code == 78 && checked.out.contains(message), "\(checked.out)")
    #expect([64, 78].contains(try job().code))
    #expect(try one.commits() == 0)
  }

  /// Two names of one place are found when their URLs are known.
  @Test(arguments: [
    ("two:up", "names this destination twice"), ("two:up/", "names this destination twice"),
    ("two:up/sub", "overlaps with"),
  ]) func onePlaceUnderTwoNamesIsRefused(_ second: String, _ message: String) throws {
    try configure(one.url, to: "[one, \"\(second)\"]")
    let outcome = try job()
    #expect(outcome.code == 78 && outcome.err.contains(message), "\(outcome.err)")
    #expect(try one.commits() == 0)
  }
}
