import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// The `quota` of a job, through the built program: exit codes, and the output for people and monitoring.
@Suite struct QuotaCommandTests {
  private let program: BuiltProgram
  private let receiver: RunningReceiver
  private var source: String { program.folder.path + "/source" }
  private var config: String { program.folder.path + "/config.yaml" }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: try TemporaryFolder())
    mkdir(source, 0o700)
    for n in 0..<4 { try writeFile(source + "/f\(n)", [UInt8](repeating: 7, count: 1_000)) }
    try configure("quota: 2000/month")
  }

  private func configure(_ quota: String) throws {
    let text = """
      jobs:
        nightly:
          from: \(source)
          to: "\(receiver.url)/in/"
          \(quota)

      """
    try writeFile(config, Array(text.utf8))
    chmod(config, 0o600)
  }

  private func run(_ words: String..., zone: String = "UTC") throws -> BuiltProgram.Outcome {
    let store = program.folder.path + "/l.db"
    return try program.run(
      (words + ["--config", config, "--store", store]).map { Array($0.utf8) }, environment: ["TZ": zone])
  }

  private var stored: Int { (0..<4).count { (try? readText(receiver.root + "/in/f\($0)")) != nil } }

  @Test func whatIsLeftWaitsAndIsNoFault() throws {
    let first = try run("job", "run", "nightly", "--no-syslog")
    #expect((first.code, first.err) == (5, ""))
    #expect(try run("job", "show", "nightly").out.contains("the quota of the job is used up"))
    #expect(stored == 2)
    #expect(try run("job", "run", "nightly", "--no-syslog").code == 5)
    #expect(stored == 2)

    let shown = try run("job", "show", "nightly", "--json", zone: "XYZ-5").out
    #expect(shown.contains(#""quota_bytes":2000"#) && shown.contains(#""quota_sent_bytes":2000"#), "\(shown)")
    #expect(shown.contains(#""quota_reached":true"#))
    let checked = try run("check", "--job", "nightly", "--max-age", "1h", "--max-pending", "0")
    #expect(checked.code == 0)
    #expect(checked.out.contains("2 wait for a quota"))

    try configure("")
    #expect(try run("job", "run", "nightly", "--no-syslog").code == 0)
    #expect(stored == 4)
    #expect(try !run("job", "show", "nightly", "--json").out.contains(#""quota_bytes":2000"#))
  }

  /// The quota belongs to the files of the job, not to the run.
  @Test func anotherCommandKeepsToItToo() throws {
    #expect(try run("job", "run", "nightly", "--no-syslog").code == 5)
    let other = try run("run")
    #expect(other.code == 5)
    #expect(stored == 2)
  }

  @Test(arguments: ["200GiB", "2000/year", "x/day", "0/day", "/day", "5M/day/2"])
  func theCheckFindsWhatIsNoQuota(_ text: String) throws {
    try configure("quota: \(text)")
    let outcome = try run("config", "check")
    #expect(outcome.code == 78)
    #expect((outcome.out + outcome.err).contains(":5:12: \"quota\" takes bytes a day, week or month, like 200GiB/day"))
  }
}
