import Testing
import Transfers

@testable import TransfersCLI

@Suite struct ProgressTests {
  private func snapshot(acked: Int64, inFlight: Int64 = 0, failed: Int = 0, elapsedMs: Int64 = 10_000)
    -> ProgressSnapshot
  {
    var now = ProgressSnapshot()
    now.filesTotal = 118
    now.filesDone = 61
    now.filesFailed = failed
    now.active = 4
    now.bytesTotal = 1 << 31
    now.bytesAcked = acked
    now.bytesInFlight = inFlight
    now.retrying = 0
    now.elapsedMs = elapsedMs
    return now
  }

  @Test func theLineSaysHowFarItIs() {
    let line = ProgressText.line(snapshot(acked: 1 << 30, failed: 2), bytesPerSecond: 32 << 20, columns: nil)
    #expect(line == "61 of 118 files  1.0 GiB / 2.0 GiB  50%  2 failed  32.0 MiB/s  ETA 0:32")
  }

  @Test func neverMoreThanTheWhole() {
    let line = ProgressText.line(snapshot(acked: 1 << 31, inFlight: 5 << 30), bytesPerSecond: nil, columns: nil)
    #expect(line.contains("2.0 GiB / 2.0 GiB  100%"))
    #expect(ProgressText.percent((1 << 31) - 1, of: 1 << 31) == 99)
    #expect(ProgressText.percent(0, of: 0) == 100)
  }

  @Test(arguments: [1, 10, 20, 40, 79, 80])
  func theLineFitsTheTerminal(_ columns: Int) {
    let line = ProgressText.line(snapshot(acked: 1 << 30), bytesPerSecond: 32 << 20, columns: columns)
    #expect(DisplayWidth.of(line) <= columns)
    #expect(!line.isEmpty)
  }

  @Test func noTimeToGoInTheFirstSeconds() {
    let line = ProgressText.line(snapshot(acked: 1 << 30, elapsedMs: 2999), bytesPerSecond: 1 << 20, columns: nil)
    #expect(line.hasSuffix("ETA -"))
  }

  /// 20 s at 50 B/s, 10 s of nothing, 10 s at 50 B/s: slow to change, never jumpy.
  @Test func theRateIsSmooth() throws {
    var estimator = RateEstimator()
    var bytes: Int64 = 0
    var atStall = Int64(0)
    for second in 0...40 {
      if second > 0 { bytes += (21...30).contains(second) ? 0 : 50 }
      estimator.record(bytes: bytes, atMs: Int64(second) * 1000)
      if second == 20 { #expect((45...50).contains(try #require(estimator.bytesPerSecond))) }
      if second == 30 { atStall = try #require(estimator.bytesPerSecond) }
    }
    #expect((5...30).contains(atStall))
    #expect(try #require(estimator.bytesPerSecond) > atStall)
  }

  @Test func aCountThatGoesBackIsNoNegativeRate() throws {
    var estimator = RateEstimator()
    estimator.record(bytes: 1000, atMs: 0)
    estimator.record(bytes: 200, atMs: 1000)
    #expect(try #require(estimator.bytesPerSecond) == 0)
  }
}
