import CronYear
import FoundationEssentials
import Glibc
import Testing

/// Some days of the simulated year, which `tools/cron-year --long` runs completely.
@Suite(.serialized) struct CronYearTests {
  /// TRANSFERS_SEED selects one seed, to repeat it.
  private static let seeds: [UInt64] =
    getenv("TRANSFERS_SEED").flatMap { UInt64(String(cString: $0)) }.map { [$0] }
    ?? Array(1...(getenv("TRANSFERS_TEST_LONG") == nil ? 1 : 12))

  @Test(arguments: seeds) func daysOfCronAreInOrder(seed: UInt64) throws {
    let root = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(root)/cron-year-XXXXXX".utf8CString)
    let folder = String(cString: try #require(mkdtemp(&template)))
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var plan = CronYear.Plan(runs: 140, seed: seed)
    plan.runsBetweenChecks = 140
    let year = try CronYear(plan, in: folder)
    try year.work()
    #expect(year.tally.deliveries > 20 && year.tally.removed > 5, "\(year.tally)")
  }
}
