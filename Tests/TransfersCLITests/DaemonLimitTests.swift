import Glibc
import TransferModel
import Testing

@testable import TransfersCLI

/// The daemon, and jobs with limits of their own: what they leave is not sent without these limits.
@Suite struct DaemonLimitTests {
  private let program: BuiltProgram
  private let receiver: RunningReceiver
  private var source: String { program.folder.path + "/source" }
  private var store: String { program.folder.path + "/l.db" }
  private var settings: [String] { ["--config", program.folder.path + "/c.yaml", "--store", store] }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: try TemporaryFolder(), script: "match PUT /in/held nth=1 : hold=put\n")
    mkdir(source, 0o700)
    mkdir(program.folder.path + "/none", 0o700)
  }

  private func configure(_ job: String) throws {
    let text = """
      jobs:
        quick: {from: \(source), to: "\(receiver.url)/in/", \(job)}
        tick: {from: \(program.folder.path)/none, to: "\(receiver.url)/none/", every: 1s}

      """
    try writeFile(program.folder.path + "/c.yaml", Array(text.utf8))
    chmod(program.folder.path + "/c.yaml", 0o600)
  }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome {
    try program.run((words + settings).map { Array($0.utf8) })
  }

  private func count(_ rows: String) throws -> String {
    try program.run("store", "sql", "--format", "tsv", "SELECT count(*) AS n FROM \(rows)", "--store", store).out
  }

  /// In the time of two runs of the other job, the daemon looks at the ledger at least twice.
  private func waitForLooks(_ running: BuiltProgram.Running) throws {
    let ends = "job tick ended with 0\n"
    let before = running.countSaid(ends)
    try running.waitUntilSaid(ends, times: before + 3)
  }

  @Test(arguments: ["quota: 1000/month", "max_bytes: 1000", "max_bytes: 1000, rate: 100M"])
  func whatALimitLeavesWaitsForTheJob(_ limit: String) throws {
    for n in 0..<3 { try writeFile(source + "/f\(n)", [UInt8](repeating: 7, count: 900)) }
    try configure("every: 12h, \(limit)")
    let running = try program.start(["daemon", "-v"] + settings)
    try running.waitUntilSaid("job quick ended with 5")
    try waitForLooks(running)
    #expect(try count("engine_run") == "n\n1\n")
    // An engine that sends something else does not send these files either.
    try writeFile(program.folder.path + "/other", [1])
    #expect(try run("add", program.folder.path + "/other", "\(receiver.url)/other/").code == 0)
    try running.waitUntilSaid("engine ended with")
    try waitForLooks(running)
    #expect(access(receiver.root + "/other/other", F_OK) == 0)
    #expect(try count("engine_run") == "n\n2\n")
    #expect(try count("file WHERE state = 'done' AND CAST(key AS TEXT) LIKE '%/f_'") == "n\n1\n")
    running.signal(SIGTERM)
    let end = try running.wait()
    // Only the daemon's own end is told.
    #expect(end.code == 5 && end.err.ranges(of: "error[").count == 1, "\(end.err)")
    // The next run of the job continues.
    #expect(try run("job", "run", "quick").code == 5)
    let done = limit.hasPrefix("quota") ? 1 : 2
    #expect(try count("file WHERE state = 'done' AND CAST(key AS TEXT) LIKE '%/f_'") == "n\n\(done)\n")
  }

  /// The time of the job is far away. Its files were recorded while another engine ran, which was killed.
  @Test func aJobWithARateSendsItsFilesItself() throws {
    try configure("cron: \"0 0 29 2 *\", rate: 100M")
    try writeFile(program.folder.path + "/held", [1])
    let pushing = try program.start(
      ["push", "-q", "--workers", "1", program.folder.path + "/held", "\(receiver.url)/in/"] + settings)
    try receiver.waitUntilHeld("put")
    try writeFile(source + "/mine", [2])
    #expect(try run("job", "run", "quick").code == 0)
    pushing.signal(SIGKILL)
    _ = try pushing.wait()
    try receiver.release("put")
    let running = try program.start(["daemon", "-v"] + settings, number: 1)
    while access(receiver.root + "/in/mine", F_OK) != 0 { sched_yield() }
    running.signal(SIGTERM)
    #expect(try running.wait().code == 0)
    let sender = "attempt a JOIN engine_run r ON r.id = a.run_id JOIN file f ON f.id = a.file_id"
    #expect(try count("\(sender) WHERE CAST(f.key AS TEXT) LIKE '%/mine' AND r.argv LIKE '%\"job\"%'") == "n\n1\n")
  }

  /// The lists of a job are no reason to refuse the configuration.
  @Test func aJobWithAListRuns() throws {
    try writeFile(source + "/a", [1])
    try writeFile(program.folder.path + "/list.csv", Array("path,key\na,k/a\n".utf8))
    let text = """
      jobs:
        quick: {files_from: \(program.folder.path)/list.csv, base: \(source), to: "\(receiver.url)/in/", every: 12h}

      """
    try writeFile(program.folder.path + "/c.yaml", Array(text.utf8))
    chmod(program.folder.path + "/c.yaml", 0o600)
    let running = try program.start(["daemon", "-v"] + settings)
    try running.waitUntilSaid("job quick ended with 0")
    #expect(try readText(receiver.root + "/in/k/a").utf8.count == 1)
    running.signal(SIGTERM)
    #expect(try running.wait().code == 0)
  }
}

/// Whether an engine with the limits of one job keeps those of another.
@Suite struct JobLimitsTests {
  private func limits(_ job: String) throws -> JobLimits {
    let text = """
      destinations: {slow: {url: "http://h/in/", rate: 1M}}
      jobs: {one: {from: /x, \(job)}}

      """
    let (config, faults) = ConfigReader.read(Array(text.utf8), file: "c.yaml", home: nil)
    #expect(faults.isEmpty)
    return JobLimits(try #require(config.jobs["one"]), config)
  }

  @Test(arguments: [
    ("to: \"http://h/\"", "to: \"http://h/\"", true), ("to: slow", "to: \"http://h/\"", false),
    ("to: slow", "to: slow", true), ("to: slow, rate: 2M", "to: slow", true), ("to: slow", "to: slow, rate: 2M", false),
    ("to: slow", "to: slow, rate: \"08:00,1K 18:00,off\"", false), ("to: slow, max_bytes: 1G", "to: slow", false),
    ("to: slow, rate: \"08:00,1M 18:00,off\"", "to: slow", true), ("to: slow, rate_group: a", "to: slow", false),
    ("to: slow, rate_group: a", "to: slow, rate_group: a", true), ("to: slow, max_duration: 1h", "to: slow", false),
  ]) func anEngineKeepsThem(_ job: String, _ other: String, _ areKept: Bool) throws {
    #expect(try limits(job).areKept(by: try limits(other)) == areKept)
  }

  @Test func jobsAreRunAgainLessAndLessOften() {
    var demands = JobDemands()
    let first = demands.due(["a", "b"], running: ["b"], nowMs: 0)
    #expect(first == ["a"])
    demands.ended("a", nowMs: 100)
    let early = demands.due(["a"], running: [], nowMs: 99 + EngineDemand.firstWaitMs)
    #expect(early.isEmpty)
    let second = demands.due(["a"], running: [], nowMs: 100 + EngineDemand.firstWaitMs)
    #expect(second == ["a"])
    demands.ended("a", nowMs: 10_000)
    let third = demands.due(["a"], running: [], nowMs: 9_999 + 2 * EngineDemand.firstWaitMs)
    #expect(third.isEmpty)
    // Its files were sent meanwhile.
    let none = demands.due([], running: [], nowMs: 11_000)
    #expect(none.isEmpty)
    let fresh = demands.due(["a"], running: [], nowMs: 11_001)
    #expect(fresh == ["a"])
  }
}
