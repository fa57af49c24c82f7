import Testing
import TransferModel
import TransferReports

@testable import TransfersCLI

/// The figures computed from snapshots, and the line for logs.
@Suite struct ProgressMeterTests {
  private func snapshot(_ ms: Int64, acked: Int64 = 0, inFlight: Int64 = 0, total: Int64 = 1 << 31)
    -> ProgressSnapshot
  {
    var now = ProgressSnapshot()
    (now.filesTotal, now.filesDone, now.active, now.elapsedMs) = (118, 61, 4, ms)
    (now.bytesTotal, now.bytesAcked, now.bytesInFlight) = (total, acked, inFlight)
    return now
  }

  /// The figures after `count` seconds at `rate` bytes per second, starting from `first`.
  private func figures(_ first: ProgressSnapshot, rate: Int64, count: Int64 = 20) -> ProgressFigures {
    var meter = ProgressMeter()
    var figures = meter.read(first)
    for second in 1...count {
      var now = first
      now.elapsedMs += second * 1000
      now.bytesAcked += second * rate
      for index in now.files.indices { now.files[index].bytesAcked += second * rate }
      figures = meter.read(now)
    }
    return figures
  }

  @Test func theLineSaysHowFarItIs() {
    var figures = ProgressFigures(now: snapshot(10_000, acked: 1 << 30, inFlight: 1 << 20))
    (figures.bytesPerSecond, figures.etaMs) = (32 << 20, 32_000)
    #expect(ProgressText.line(figures) == "61 of 118 files  1.0 / 2.0 GiB  50%  32.0 MiB/s  ETA 0:32")
    (figures.now.filesFailed, figures.now.filesUnknown, figures.now.retrying, figures.filesAdded) = (2, 1, 3, 12)
    #expect(
      ProgressText.line(figures, units: .si)
        == "61 of 118 files (+12)  1.0 / 2.1 GB  50%  33.5 MB/s  ETA 0:32  2 failed  1 unknown  3 retrying")
  }

  /// Neither rate nor ETA is shown: they would describe bytes that were sent long ago.
  @Test func whatOnlyWaitsForTheServerSaysSo() throws {
    var now = snapshot(140_000, acked: 1 << 30, inFlight: 1 << 30)
    now.waitingForServerMs = 130_400
    now.files = [
      FileProgress(
        id: FileID(rawValue: 1), path: NameBytes("a"), bytesTotal: 1 << 30, bytesAcked: 0, bytesInFlight: 1 << 30,
        phase: .waitingForServer(forMs: 3_730_400))
    ]
    let waiting = figures(now, rate: 0)
    #expect(
      ProgressText.line(waiting) == "61 of 118 files  1.9 / 2.0 GiB  99%  waiting for the server to finish (2:10)")
    #expect(waiting.etaMs == nil)
    let block = ProgressBlock(columns: 120).lines(waiting)
    #expect(try #require(block.last).contains("99%  waiting for the server to finish (2:10)  61 done"))
    #expect(block.contains { $0.hasSuffix("waiting for the server to finish (1:02:10)") }, "\(block)")
    let record = String(decoding: JSONWriter.bytes(ProgressRecord.tree(waiting, wallMs: 0)), as: UTF8.self)
    #expect(record.contains(#""waiting_for_server_ms":130400"#) && record.contains(#""eta_ms":null"#), "\(record)")
    #expect(record.contains(#""state":"waiting_for_server","waiting_ms":3730400"#), "\(record)")
  }

  /// Files are counted, because all of the known bytes may be here already.
  @Test func unknownSizesLeaveNoShareOfTheBytes() {
    var now = snapshot(10_000, acked: 1 << 31)
    now.sizesUnknown = 3
    #expect(ProgressText.line(ProgressFigures(now: now)).hasPrefix("61 of 118 files  2.0 GiB  51%"))
    #expect(figures(now, rate: 1 << 20).etaMs == nil)
  }

  @Test func neverMoreThanTheWhole() {
    let figures = ProgressFigures(now: snapshot(0, acked: 1 << 31, inFlight: 5 << 30))
    #expect(ProgressText.line(figures).contains("2.0 / 2.0 GiB  100%"))
    #expect(ProgressText.percent((1 << 31) - 1, of: 1 << 31) == 99)
    #expect(ProgressText.percent(0, of: 0) == 100)
    #expect(ProgressFigures(now: snapshot(0, total: 0)).percent == 51, "empty files count by their number")
  }

  @Test func whatIsOnlyInBuffersIsNotTheWhole() throws {
    let full = figures(snapshot(0, acked: 1 << 20, inFlight: 1 << 30, total: 200 << 20), rate: 1 << 20, count: 9)
    #expect(full.percent == 99)
    #expect(try #require(full.etaMs) >= 1_000)
    #expect(ProgressText.line(full).contains("  198 / 200 MiB  99%"), "\(ProgressText.line(full))")
    let last = FileProgress(
      id: FileID(rawValue: 1), path: NameBytes("a"), bytesTotal: 10, bytesAcked: 9, bytesInFlight: 1, phase: .sending)
    #expect(last.bytesMoved == 9)
    #expect(ProgressFigures(now: snapshot(0, acked: 200, total: 200)).percent == 100)
  }

  @Test func noTimeToGoInTheFirstSecondsNorWithoutATotal() {
    #expect(figures(snapshot(0), rate: 1 << 20, count: 2).etaMs == nil)
    #expect(figures(snapshot(0), rate: 1 << 20, count: 3).etaMs != nil)
    var unknown = snapshot(0)
    unknown.totalIsKnown = false
    let unclear = figures(unknown, rate: 1 << 20)
    #expect(unclear.etaMs == nil)
    #expect(ProgressText.line(unclear).contains("20.0 MiB  counting  "))
    #expect(figures(snapshot(0), rate: 0).etaMs == nil)
  }

  @Test func theTimeToGoHonoursTheRateLimitAndBackoffs() throws {
    let free = try #require(figures(snapshot(0, total: 200 << 20), rate: 10 << 20, count: 10).etaMs)
    #expect((9_000...12_000).contains(free))
    var limited = snapshot(0, total: 200 << 20)
    limited.rateLimit = 1 << 20
    #expect(figures(limited, rate: 10 << 20, count: 10).etaMs == 100_000)
    var waiting = snapshot(0, total: 200 << 20)
    waiting.files = [
      FileProgress(
        id: FileID(rawValue: 1), path: NameBytes("a"), bytesTotal: 9, bytesAcked: 0,
        phase: .retrying(inMs: 60_000, .http503, number: 2, limit: 8))
    ]
    #expect(figures(waiting, rate: 10 << 20, count: 10).etaMs == 60_000)
  }

  @Test func bytesOfFilesThatWereGivenUpAreNotWaitedFor() throws {
    var now = snapshot(0, total: 200 << 20)
    now.bytesGivenUp = 90 << 20
    let eta = try #require(figures(now, rate: 10 << 20, count: 10).etaMs)
    #expect((900...1_300).contains(eta))
  }

  @Test func whatEarlierRunsSentIsNoSpeed() {
    var meter = ProgressMeter()
    _ = meter.read(snapshot(0))
    var later = snapshot(1_000, acked: 1 << 30)
    later.bytesEarlier = 1 << 30
    #expect(meter.read(later).bytesPerSecond == 0)
  }

  @Test func addedFilesAreShownForAWhile() {
    var meter = ProgressMeter()
    var now = snapshot(0)
    #expect(meter.read(now).filesAdded == 0)
    (now.elapsedMs, now.filesTotal) = (1_000, 130)
    #expect(meter.read(now).filesAdded == 12)
    (now.elapsedMs, now.filesTotal) = (5_000, 131)
    #expect(meter.read(now).filesAdded == 13)
    now.elapsedMs = 14_999
    #expect(meter.read(now).filesAdded == 13)
    now.elapsedMs = 15_000
    #expect(meter.read(now).filesAdded == 0)
  }

  @Test func aFileHasARateOfItsOwn() throws {
    var first = snapshot(0, total: 1 << 30)
    first.files = [
      FileProgress(
        id: FileID(rawValue: 1), path: NameBytes("a"), bytesTotal: 100 << 20, bytesAcked: 0, phase: .sending)
    ]
    let file = try #require(figures(first, rate: 1 << 20, count: 30).files.first)
    #expect((1_000_000...1_100_000).contains(try #require(file.bytesPerSecond)))
    #expect((68_000...75_000).contains(try #require(file.etaMs)))
  }

  /// 20 s at 50 B/s, 10 s without bytes, 10 s at 50 B/s: the rate changes slowly and never jumps.
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

  /// When a request ends, its bytes leave flight a moment before they are counted as acknowledged.
  @Test func aShortDipIsNoProgressAndALongOneIsANewBeginning() throws {
    var estimator = RateEstimator()
    for (bytes, ms) in [(1000, 0), (200, 100), (1000, 200)] as [(Int64, Int64)] {
      estimator.record(bytes: bytes, atMs: ms)
    }
    #expect(estimator.bytesPerSecond == 0)
    for (bytes, ms) in [(200, 300), (200, 1_300)] as [(Int64, Int64)] { estimator.record(bytes: bytes, atMs: ms) }
    #expect(estimator.bytesPerSecond == 0)
    estimator.record(bytes: 900, atMs: 1_400)
    #expect(try #require(estimator.bytesPerSecond) > 0)
  }
}
