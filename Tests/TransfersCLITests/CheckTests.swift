import TransferModel
import TransferReports
import Testing

@testable import Transfers
@testable import TransfersCLI

/// How `transfers check` evaluates the rows of jobs.
@Suite struct CheckTests {
  private let nowMs: Int64 = 1_800_000_000_000

  private func row(_ job: String, succeededMsAgo ago: Int64) -> JobRow {
    JobRow(
      job: job, startedMs: nowMs - ago, endedMs: nowMs - ago, result: "ok", message: nil, succeededMs: nowMs - ago)
  }

  private func check(_ jobs: [JobRow], neverRan: [String] = [], maxAgeMs: Int64?) -> CheckOutput {
    let reading = CheckReading(
      jobs: jobs, neverRan: neverRan, totals: StateTotals(), unfinished: UnfinishedFiles(), isKnown: true)
    return CheckOutput(reading, job: nil, maxAgeMs: maxAgeMs, maxFailed: 0, maxPending: nil, nowMs: nowMs)
  }

  @Test func aConfiguredJobThatNeverRanIsTold() {
    let rows = [row("nightly", succeededMsAgo: 1_000)]
    #expect(check(rows, maxAgeMs: 60_000).verdict == .ok)
    let warned = check(rows, neverRan: ["weekly"], maxAgeMs: nil)
    #expect(warned.verdict == .warning)
    #expect(warned.line.contains("job weekly has not run yet"))
    #expect(check(rows, neverRan: ["weekly"], maxAgeMs: 60_000).verdict == .critical)
  }

  /// If the clock was set back, an earlier success would count as recent until the clock has caught up.
  @Test func aSuccessInTheFutureIsNoSuccess() {
    #expect(check([row("nightly", succeededMsAgo: -30_000)], maxAgeMs: 60_000).verdict == .ok)
    let ahead = check([row("nightly", succeededMsAgo: -3_600_000)], maxAgeMs: 60_000)
    #expect(ahead.verdict == .critical)
    #expect(ahead.line.contains("in the future"))
  }

  /// A configured job counts even if the ledger does not have it.
  @Test func jobsOfTheConfigurationCount() throws {
    let program = try BuiltProgram()
    let (config, store) = (program.folder.path + "/c.yaml", program.folder.path + "/l.db")
    try OpenStore(at: store, .create).close()
    try writeFile(config, Array("jobs: {nightly: {from: [/data], to: \"http://127.0.0.1:9/in/\"}}".utf8))
    let words = ["--config", config, "--store", store].map { Array($0.utf8) }
    let checked = try program.run([Array("check".utf8)] + words)
    #expect(checked.code == 1)
    #expect(checked.out.contains("job nightly has not run yet"))
    let listed = try program.run(["job", "list", "--format", "tsv", "--columns", "job"].map { Array($0.utf8) } + words)
    #expect((listed.code, listed.out) == (0, "job\nnightly\n"), "\(listed.err)")
  }
}
