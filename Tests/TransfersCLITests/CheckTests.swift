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
    #expect(check(rows, maxAgeMs: 60_000).outcome == .ok)
    let warned = check(rows, neverRan: ["weekly"], maxAgeMs: nil)
    #expect(warned.outcome == .warning)
    #expect(warned.line.contains("job weekly has not run yet"))
    #expect(check(rows, neverRan: ["weekly"], maxAgeMs: 60_000).outcome == .critical)
  }

  /// If the clock was set back, an earlier success would count as recent until the clock has caught up.
  @Test func aSuccessInTheFutureIsNoSuccess() {
    #expect(check([row("nightly", succeededMsAgo: -30_000)], maxAgeMs: 60_000).outcome == .ok)
    let ahead = check([row("nightly", succeededMsAgo: -3_600_000)], maxAgeMs: 60_000)
    #expect(ahead.outcome == .critical)
    #expect(ahead.line.contains("in the future"))
    let warned = check([row("nightly", succeededMsAgo: -3_600_000)], maxAgeMs: nil)
    #expect(warned.outcome == .warning)
    #expect(warned.line.contains("the last success of job nightly is 1h 00m in the future"))
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

  /// The documents name the ledger that they are about; there may be none for a configured job.
  @Test func documentsAboutJobsNameTheLedger() throws {
    let program = try BuiltProgram()
    let (config, store) = (program.folder.path + "/c.yaml", program.folder.path + "/l.db")
    try writeFile(config, Array("jobs: {nightly: {from: [/data], to: \"http://127.0.0.1:9/in/\"}}".utf8))
    let words = ["--config", config, "--store", store, "--json"].map { Array($0.utf8) }
    #expect(try program.run(["job", "list"].map { Array($0.utf8) } + words).out.contains(#""uid":null"#))
    try OpenStore(at: store, .create).close()
    for command in ["check", "job list", "job show nightly"] {
      let out = try program.run(command.split(separator: " ").map { Array($0.utf8) } + words).out
      #expect(out.contains(#""uid":""#) && !out.contains("null,\"uid\""), "\(command): \(out)")
    }
  }

  // MARK: - Scans

  private func scan(_ job: String, msAgo: Int64, files: Int) -> ScanRow {
    var counts = SourceCounts()
    counts.unchanged = files
    var row = ScanRow(
      job: job, place: "p", sources: ScannedSources(from: ["/data"], list: nil, rules: []), tookMs: 1, counts: counts)
    row.completedMs = nowMs - msAgo
    return row
  }

  private func check(_ scans: [ScanRow], uploads: [String], _ limits: CheckScans.Limits) -> CheckOutput {
    let reading = CheckReading(
      jobs: [], scans: scans, uploads: uploads, totals: StateTotals(), unfinished: UnfinishedFiles(), isKnown: true)
    return CheckOutput(
      reading, job: nil, maxAgeMs: nil, maxFailed: 0, maxPending: nil, scanLimits: limits, nowMs: nowMs)
  }

  @Test func aJobThatSeesNothingIsNoticed() {
    let scans = [scan("nightly", msAgo: 60_000, files: 0), scan("nightly", msAgo: 90_000_000, files: 9)]
    #expect(check(scans, uploads: ["nightly"], CheckScans.Limits()).outcome == .ok)
    let empty = check(scans, uploads: ["nightly"], CheckScans.Limits(files: 1))
    #expect(empty.outcome == .critical)
    #expect(empty.line.contains("the last complete scan of job nightly found 0 files, at least 1 expected"))
    #expect(empty.line.contains("scan=60s;;;0 scan_files=0;;1:;0"), "\(empty.line)")
    #expect(check([scans[1]], uploads: ["nightly"], CheckScans.Limits(files: 9)).outcome == .ok)
    let old = check([scans[1]], uploads: ["nightly"], CheckScans.Limits(ageMs: 86_400_000))
    #expect(old.outcome == .critical)
    #expect(old.line.contains("scan of job nightly is 1d 01h ago"), "\(old.line)")
    let none = check([], uploads: ["nightly"], CheckScans.Limits(files: 0))
    #expect(none.outcome == .critical && none.line.contains("job nightly has no complete scan"))
  }

  /// If the clock was set back, nothing is known of what the job has found since then.
  @Test func aScanInTheFutureIsTold() {
    let scans = [scan("nightly", msAgo: -3_600_000, files: 9)]
    let text = "the last complete scan of job nightly is 1h 00m in the future: the clock was set back"
    for limits in [CheckScans.Limits(ageMs: 60_000), CheckScans.Limits(files: 1)] {
      let ahead = check(scans, uploads: ["nightly"], limits)
      #expect(ahead.outcome == .critical && ahead.line.contains(text), "\(ahead.line)")
    }
    let warned = check(scans, uploads: ["nightly"], CheckScans.Limits())
    #expect(warned.outcome == .warning && warned.line.contains(text), "\(warned.line)")
    #expect(check([scan("nightly", msAgo: -30_000, files: 9)], uploads: [], CheckScans.Limits()).outcome == .ok)
    // A scan since then counts, although the one of other sources is later.
    let since = check(
      scans + [scan("nightly", msAgo: 1_000, files: 0)], uploads: ["nightly"], CheckScans.Limits(files: 1))
    #expect(since.line.contains("found 0 files, at least 1 expected") && !since.line.contains("future"))
  }

  /// No row of the ledger says that they are not sent, so that nothing else tells it.
  @Test func filesThatAJobRefusesAreCritical() {
    func check(_ refused: [String: Int], most: Int) -> CheckOutput {
      let reading = CheckReading(
        jobs: [], refused: refused, totals: StateTotals(), unfinished: UnfinishedFiles(), isKnown: true)
      return CheckOutput(
        reading, job: nil, maxAgeMs: nil, maxFailed: 0, maxRefused: most, maxPending: nil, nowMs: nowMs)
    }
    let one = check(["nightly": 2], most: 1)
    #expect(one.line.hasPrefix("TRANSFERS CRITICAL") && one.remedy == "transfers job run -n nightly", "\(one.line)")
    #expect(one.line.contains("2 files refused by the last scan of job nightly, 1 allowed"), "\(one.line)")
    #expect(one.line.contains(" refused=2;;1;0 "), "\(one.line)")
    let two = check(["weekly": 1, "nightly": 1], most: 0)
    #expect(two.line.contains("2 files refused by the last scans of jobs nightly, weekly, 0 allowed"), "\(two.line)")
    #expect(check(["nightly": 2], most: 2).line.hasPrefix("TRANSFERS OK"))
  }

  /// A job with several destinations has a row for each of them; what it had in its configuration before has others.
  @Test func refusedFilesAreThoseOfTheLastScanOfAJob() {
    var scans = [scan("nightly", msAgo: 1_000, files: 3), scan("nightly", msAgo: 1_001, files: 3)]
    scans[1].place = "q"
    (scans[0].refused, scans[1].refused) = (1, 2)
    scans.append(scan("nightly", msAgo: 9_000, files: 3))
    (scans[2].sources, scans[2].refused) = (ScannedSources(from: ["/old"], list: nil, rules: []), 4)
    scans.append(scan("weekly", msAgo: 1_000, files: 3))
    #expect(CheckScans.refused(scans, configured: [], nowMs: nowMs) == ["nightly": 3])
    #expect(CheckScans.refused(scans, configured: ["nightly"], nowMs: nowMs) == ["nightly": 3])
    #expect(CheckScans.refused(scans, configured: ["weekly"], nowMs: nowMs).isEmpty, "nightly was removed")
  }

  /// Its runs left the files to another engine, which has sent them.
  @Test func aJobThatWasOnlySkippedHasSucceeded() {
    let scans = [scan("nightly", msAgo: 1_000, files: 3)]
    let rows = CheckScans.counting(scans, settled: ["nightly"], in: [])
    #expect(rows.map(\.succeededMs) == [nowMs - 1_000])
    #expect(CheckScans.counting(scans, settled: [], in: []).isEmpty, "its files are not sent yet")
    var refusing = scans
    refusing[0].refused = 1
    #expect(CheckScans.counting(refusing, settled: ["nightly"], in: []).isEmpty, "it refused a file")
    let older = CheckScans.counting(scans, settled: ["nightly"], in: [row("nightly", succeededMsAgo: 9_000)])
    #expect(older.map(\.succeededMs) == [nowMs - 1_000])
    let failed = JobRow(job: "nightly", startedMs: nowMs - 900, endedMs: nowMs - 500, result: "partial", message: "no")
    #expect(CheckScans.counting(scans, settled: ["nightly"], in: [failed]).map(\.succeededMs) == [nil])
  }

  @Test(arguments: ["auth", "no_source", "config", "usage"]) func aRunThatCouldNotBeginIsAWarning(_ result: String) {
    let row = JobRow(
      job: "nightly", startedMs: nowMs, endedMs: nowMs, result: result, message: "a | b", succeededMs: nowMs)
    let output = check([row], maxAgeMs: 60_000)
    #expect(output.outcome == .warning)
    #expect(output.line.contains("the last run of job nightly ended with \(result): a / b | failed=0"))
  }

  @Test(arguments: ["ok", "work_left", "partial", "skipped"]) func otherResultsAreCountedByFiles(_ result: String) {
    let message = result == "ok" ? nil : "why"
    let row = JobRow(
      job: "nightly", startedMs: nowMs, endedMs: nowMs, result: result, message: message, succeededMs: nowMs)
    #expect(check([row], maxAgeMs: nil).outcome == .ok)
  }

  /// Monitoring shows the first line of standard output, and nothing else.
  @Test func anUnknownIsALineOnStandardOutput() throws {
    let program = try BuiltProgram()
    let missing = try program.run("check", "--store", program.folder.path + "/none.db")
    #expect(missing.code == 3)
    #expect(missing.out.hasPrefix("TRANSFERS UNKNOWN - open store \""), "\(missing.out)")
    let wrong = try program.run("check", "--max-age", "soon")
    #expect(wrong.code == 3)
    #expect(wrong.out.hasPrefix("TRANSFERS UNKNOWN - ") && wrong.out.contains("soon"), "\(wrong.out)")
    #expect(missing.out.split(separator: "\n").count == 1 && wrong.out.split(separator: "\n").count == 1)
  }
}
