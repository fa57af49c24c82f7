import Glibc
import Testing
import TransferModel
import Transfers

@testable import TransfersCLI

/// The list of destinations of a job, and what becomes of its sources.
@Suite struct DestinationListTests {
  private let program: BuiltProgram
  private let one, two: RunningReceiver
  private var folder: String { program.folder.path }
  private var source: String { folder + "/source" }
  private var config: String { folder + "/config.yaml" }

  init() throws {
    program = try BuiltProgram()
    one = try RunningReceiver(in: try TemporaryFolder(), isRecorded: true)
    two = try RunningReceiver(in: try TemporaryFolder(), isRecorded: true)
    mkdir(program.folder.path + "/source", 0o700)
    for name in ["a", "b"] { try writeFile(source + "/" + name, Array(name.utf8)) }
  }

  /// A job `nightly` with the destinations `one` and `two` for it.
  private func configure(_ job: String) throws {
    let text = """
      destinations: {one: {url: "\(one.url)/up/"}, two: {url: "\(two.url)/"}}
      jobs: {nightly: {\(job)}}
      """
    try writeFile(config, Array(text.utf8))
    chmod(config, 0o600)
  }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome {
    try program.run((words + ["--config", config, "--store", folder + "/l.db"]).map { Array($0.utf8) })
  }

  private func job() throws -> BuiltProgram.Outcome { try run("job", "run", "nightly", "--no-syslog", "-v") }

  private func rows(_ sql: String) throws -> [String] {
    try run("store", "sql", sql, "--format", "csv").out.split(whereSeparator: \.isNewline).dropFirst().map(String.init)
  }

  private func stored(_ receiver: RunningReceiver, _ name: String) -> String? {
    try? readText(receiver.root + "/" + name)
  }

  /// `up/` and `up/a` are one name for a source that is a file.
  @Test(arguments: [("one", "one:a"), ("one:a", "one")])
  func oneNameForASingleFileIsRefused(_ first: String, _ second: String) throws {
    try configure("from: \(source)/a, to: [\"\(first)\", \"\(second)\"]")
    let outcome = try job()
    #expect(outcome.code == 78, "\(outcome.code) \(outcome.err)")
    #expect(try one.commits() == 0)
    #expect(try run("list", "batches", "--ids").out.isEmpty)
  }

  /// With and without a slash at the end it is one destination for a folder, and for a file the object `up` would count
  /// as `up/a`. No source is needed to see this.
  @Test(arguments: [("one:x", "one:x/"), ("URL/up", "URL/up/"), ("one:", "one")])
  func aSlashAtTheEndMakesNoOtherDestination(_ first: String, _ second: String) throws {
    let to = [first, second].map { "\"" + $0.replacing("URL", with: one.url) + "\"" }.joined(separator: ", ")
    try configure("from: \(folder)/none, to: [\(to)]")
    for words in [["config", "check"], ["job", "run", "nightly", "--no-syslog"]] {
      let outcome = try program.run((words + ["--config", config]).map { Array($0.utf8) })
      #expect(outcome.code == 78, "\(words): \(outcome.code) \(outcome.err)")
    }
  }

  /// The object `up` of one and `up/in/a` of the other: nothing tells which of them a key below `up/` belongs to.
  @Test func aNameBelowTheObjectOfASingleFileIsRefused() throws {
    try configure("from: \(source)/a, to: [\"\(one.url)/up\", \"\(one.url)/up/in/\"]")
    #expect(try run("config", "check").code == 0)
    let outcome = try job()
    #expect(outcome.code == 78, "\(outcome.code) \(outcome.err)")
    #expect(try one.commits() == 0)
  }

  @Test func differentNamesForASingleFileAreNotRefused() throws {
    try configure("from: \(source)/a, to: [one, \"one:b\"]")
    let outcome = try job()
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect((stored(one, "up/a"), stored(one, "up/b")) == ("a", "a"))
  }

  /// One destination got the files while the job kept its sources, so that each removal waits for it. A run that finds
  /// nothing new starts an engine only to end the removal of a source that is gone.
  @Test func aSourceThatWaitsAndIsGoneWaitsNoLonger() throws {
    try configure("from: \(source), to: one")
    #expect(try job().code == 0)
    try configure("from: \(source), to: [one, \"two:in\"], after: delete")
    #expect(try job().code == 0)
    let removals = "SELECT state, cause FROM removal ORDER BY file_id"
    #expect(try rows(removals) == ["pending,policy.destination", "pending,policy.destination"])
    let engines = try rows("SELECT count(*) FROM engine_run")
    #expect(try job().code == 0)
    #expect(try rows("SELECT count(*) FROM engine_run") == engines, "an engine was started for nothing")
    unlink(source + "/a")
    #expect(try job().code == 0)
    #expect(try rows(removals) == ["skipped,source.missing", "pending,policy.destination"])
    #expect(access(source + "/b", F_OK) == 0)
    #expect(try run("store", "check").code == 0)
  }

  /// The removal is put off because the folder is not there. It starts no engine while that is so, by a run of a job,
  /// and is done by the first run after the remount, which finds nothing new. A daemon asks each second, and does not
  /// look at the folder: it could hang there.
  @Test func aSourceThatWaitsForItsMountIsRemovedAfterIt() throws {
    #expect(mkdir(folder + "/other", 0o700) == 0)
    try configure("from: \(folder)/other, to: one, after: delete")
    for arguments in [["\(one.url)/in/", "--after", "delete"], ["\(two.url)/more/", "--name", "more"]] {
      #expect(
        try program.run((["add", source] + arguments + ["--store", folder + "/l.db"]).map { Array($0.utf8) }).code == 0)
    }
    #expect(try run("pause", "--batch", "more").code == 0)
    #expect(try run("run").code == 5, "the other batch needs the sources")
    #expect(rename(source, folder + "/mounted") == 0)
    #expect(try run("cancel", "--batch", "more").code == 0)
    _ = try run("run")
    #expect(try rows("SELECT state, cause FROM removal") == Array(repeating: "pending,source.missing", count: 2))
    let engines = try rows("SELECT count(*) FROM engine_run")
    for _ in 0..<2 { #expect(try job().code == 0) }
    #expect(try rows("SELECT count(*) FROM engine_run") == engines, "an engine was started for nothing")
    #expect(try !isUpkeepDue(), "a daemon starts an engine for nothing")
    #expect(rename(folder + "/mounted", source) == 0)
    #expect(try !isUpkeepDue(), "a daemon looks at the disk")
    #expect(try job().code == 0)
    #expect(!isThere("source/a") && !isThere("source/b"))
    #expect(try rows("SELECT DISTINCT state FROM removal") == ["done"])
    #expect(try !isUpkeepDue() && run("store", "check").code == 0)
  }

  /// The job gave up a file for one of its destinations, and then the source got another name, or another link. A push
  /// of that name removes the source: nothing has the path any more that the job knows. The link stays.
  @Test(arguments: [true, false]) func aFileThatWasGivenUpAndRenamedHoldsNothing(_ isRenamed: Bool) throws {
    let refusing = try RunningReceiver(in: try TemporaryFolder(), script: "match PUT */a : status=400\n")
    try configure("from: \(source), to: [one, \"\(refusing.url)/in/\"], after: delete, include: [a]")
    #expect(try job().code == 3)
    #expect(try run("clean", "--failed").code == 0)
    try #require(link(source + "/a", source + "/z") == 0)
    if isRenamed { try #require(unlink(source + "/a") == 0) }
    let arguments = ["push", source + "/z", "\(two.url)/other/", "--after", "delete", "--store", folder + "/l.db"]
    #expect(try program.run(arguments.map { Array($0.utf8) }).code == 0)
    #expect(stored(two, "other/z") == "a" && isThere("source/z") == !isRenamed)
    let removals = "SELECT state, cause FROM removal ORDER BY file_id DESC LIMIT 1"
    #expect(try rows(removals) == [isRenamed ? "done," : "pending,policy.destination"])
    for _ in 0..<2 { _ = try run("run") }
    let told = "SELECT count(*) FROM event WHERE verb = 'source-gone' AND detail LIKE '%given up%'"
    #expect(try rows(told) == [isRenamed ? "1" : "0"])
    #expect(try run("store", "check").code == 0)
  }

  /// What a daemon asks before it starts an engine.
  private func isUpkeepDue() throws -> Bool {
    let ledger = try OpenStore(at: folder + "/l.db", .readOnly)
    defer { ledger.close() }
    return try ledger.read { try $0.isUpkeepDue(nowMs: 0) }
  }

  private func isThere(_ path: String) -> Bool { access(folder + "/" + path, F_OK) == 0 }

  /// The second server refuses each file once.
  @Test func aSourceIsMovedWhenAllHaveIt() throws {
    let refusing = try RunningReceiver(
      in: try TemporaryFolder(), script: "match PUT * nth=1 per=path : status=400\n", isRecorded: true)
    mkdir(folder + "/sent", 0o700)
    try configure("from: \(source), to: [one, \"\(refusing.url)/in/\"], after: \"move:\(folder)/sent\"")
    #expect(try job().code == 3)
    #expect(isThere("source/a") && isThere("source/b") && !isThere("sent/a") && !isThere("sent/b"))
    let second = try job()
    #expect(second.code == 0, "\(second.err)")
    #expect(stored(refusing, "in/a") == "a" && stored(refusing, "in/b") == "b")
    #expect(!isThere("source/a") && !isThere("source/b"))
    #expect(try readText(folder + "/sent/a") == "a" && readText(folder + "/sent/b") == "b")
    #expect(try run("store", "check").code == 0)
  }

  /// The quota of a day lets three of four files pass: the source of which one destination has nothing stays.
  @Test func aQuotaHoldsTheSourceThatIsNotEverywhere() throws {
    for name in ["a", "b"] { try writeFile(source + "/" + name, Array(repeating: UInt8(ascii: "x"), count: 1_000)) }
    try configure("from: \(source), to: [one, \"two:in\"], after: delete, quota: 3000/month")
    let outcome = try job()
    #expect(outcome.code == 5, "\(outcome.code) \(outcome.err)")
    #expect(try one.commits() + two.commits() == 3)
    for name in ["a", "b"] {
      let isEverywhere = stored(one, "up/" + name) != nil && stored(two, "in/" + name) != nil
      #expect(isThere("source/" + name) == !isEverywhere, "\(name)")
    }
    #expect(isThere("source/a") != isThere("source/b"))
  }

  /// The job has it as a duplicate of another file only, at both destinations: no receipt proves it, and a push that
  /// sends it elsewhere does not remove it.
  @Test func aDuplicateIsHeldAtAPushToo() throws {
    try configure("from: \(source), to: [one, \"two:in\"], after: delete, dedupe: true")
    #expect(try job().code == 0)
    #expect(!isThere("source/a") && !isThere("source/b"))
    try writeFile(source + "/copy", Array("a".utf8))
    #expect(try job().code == 0)
    #expect(isThere("source/copy") && stored(one, "up/copy") == nil && stored(two, "in/copy") == nil)
    let pushed = try run("push", source + "/copy", "\(two.url)/other/", "--after", "delete")
    #expect(pushed.code == 0, "\(pushed.err)")
    #expect(isThere("source/copy") && stored(two, "other/copy") == "a")
    let removals = try rows("SELECT cause FROM removal WHERE state = 'pending'")
    #expect(removals == ["policy.destination"])
  }
}
