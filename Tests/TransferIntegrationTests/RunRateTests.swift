import Testing
import TransferEngine
import TransferLedger
import TransferModel

@testable import Transfers

/// A rate that depends on the time of day, judged by how long the upload takes.
@Suite struct RunRateTests {
  /// At the rate of the next hours the rest would take a minute; then the clock reaches an entry without a limit.
  @Test func theRateFollowsTheClock() throws {
    let scene = try Scene()
    try Scene.write([UInt8](repeating: 7, count: 3 << 20), to: NameBytes("\(scene.root)/source/big"))
    _ = try scene.add(to: "/up/")
    let clock = MovableClock()
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: clock)
    defer { ledger.close() }
    let run = try ledger.startRun(NewRun(argv: ["test"], version: "0", host: "here", bootID: "b", pid: 1))
    var configuration = EngineConfiguration(workers: 2)
    configuration.rate = try table(limited: 50_000, from: clock.civilMs)
    configuration.progressEveryMs = 1
    let resolver = CurlDestinations()
    defer { resolver.stop() }
    let rates = Lock<[Int64?]>([])
    let observer = EngineObserver(
      progress: { snapshot in
        let isFirst = rates.withLock { rates in
          if rates.last != snapshot.rateLimit { rates.append(snapshot.rateLimit) }
          return rates.count == 1 && snapshot.bytesInFlight > 0
        }
        if isFirst && clock.offsetMs == 0 { clock.advance(ms: 3_600_000) }
      }, notice: { _ in })
    let engine = Engine(
      ledger: ledger, run: run, resolver: resolver, clock: clock, configuration: configuration, observer: observer)
    let began = SystemClock().bootMs
    let result = try engine.work(until: StopSignal())
    #expect(result.done == 1)
    #expect(rates.withLock(\.self) == [50_000, nil])
    #expect(SystemClock().bootMs - began < 30_000)
  }

  /// Limited for the next 50 minutes of the week, and not afterwards.
  private func table(limited rate: Int64, from civilMs: Int64) throws -> RateTimetable {
    let minutes = RateTimetable.minutesOfWeek
    let each = try #require(
      RateTimetable((0..<minutes).map { RateTimetable.Entry(minuteOfWeek: $0, bytesPerSecond: Int64($0)) }))
    let now = Int(try #require(each.bytesPerSecond(civilMs: civilMs)))
    return try #require(
      RateTimetable([
        RateTimetable.Entry(minuteOfWeek: now, bytesPerSecond: rate),
        RateTimetable.Entry(minuteOfWeek: (now + 50) % minutes, bytesPerSecond: nil),
      ]))
  }
}
