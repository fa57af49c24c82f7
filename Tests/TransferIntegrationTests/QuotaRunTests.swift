import Testing
import TransferEngine
import TransferLedger
import TransferModel

@testable import Transfers

/// A daily quota over several runs, judged by what the receiver has.
@Suite struct QuotaRunTests {
  private let scene: Scene
  private let clock = MovableClock()

  init() throws {
    scene = try Scene()
    // Far from midnight, when a new day would begin.
    let day = CalendarPeriod.day
    clock.advance(ms: day.nextLocalStart(after: clock.wallMs) + 36_000_000 - clock.wallMs)
    for n in 0..<5 { try Scene.write([UInt8](repeating: UInt8(n), count: 10_000), to: source("f\(n)")) }
  }

  private func source(_ name: String) -> NameBytes { NameBytes("\(scene.root)/source/\(name)") }
  private var store: TransferStore { TransferStore(at: scene.storePath, on: Machine(clock: clock)) }

  private func add(job: String) throws {
    var options = UploadOptions(settings: BatchSettings(destination: "\(scene.url)/up/"))
    options.job = job
    _ = try store.add([NameBytes("\(scene.root)/source")], options, notice: { _ in })
  }

  private func run() throws -> RunResult {
    try store.run(RunOptions(argv: ["test"]), progress: nil, notice: { _ in }, stop: StopSignal())
  }

  private func arrived() throws -> Int { try scene.commits().count }

  @Test func eachDayHasItsShareOverAllRuns() throws {
    try add(job: "nightly")
    try store.setQuota(ofJob: "nightly", JobQuota(bytes: 25_000, per: .day))
    let first = try run()
    #expect(first.done == 2 && first.left == 3)
    #expect(first.stoppedBy == .quota)
    #expect(try arrived() == 2)
    // A second run on the same day has nothing left to spend.
    clock.advance(ms: 3_600_000)
    let second = try run()
    #expect(second.done == 0 && second.left == 3 && second.stoppedBy == .quota)
    clock.advance(ms: 86_400_000)
    #expect(try run().done == 2)
    clock.advance(ms: 86_400_000)
    let last = try run()
    #expect(last.done == 1 && last.left == 0 && last.stoppedBy == nil)
    #expect(try arrived() == 5)
  }

  /// A program that sends until it is stopped starts no engine on the same day.
  @Test func aRunThatGoesOnWaitsForTheNextDay() throws {
    try add(job: "nightly")
    try store.setQuota(ofJob: "nightly", JobQuota(bytes: 25_000, per: .day))
    let result = try run()
    let ledger = try OpenStore(at: scene.storePath, .existing, clock: clock)
    defer { ledger.close() }
    let rest = RunRest(after: result, event: try ledger.read { try $0.newestNumbers().event }, clock)
    clock.advance(ms: 120_000)
    #expect(try !ledger.read { try rest.isOver($0) })
    clock.advance(ms: 86_400_000)
    #expect(try ledger.read { try rest.isOver($0) })
  }

  @Test func filesOfOthersAreNotHeldBack() throws {
    try add(job: "nightly")
    try store.setQuota(ofJob: "nightly", JobQuota(bytes: 10_000, per: .day))
    let options = UploadOptions(settings: BatchSettings(destination: "\(scene.url)/other/"))
    _ = try store.add([NameBytes("\(scene.root)/source")], options, notice: { _ in })
    let result = try run()
    #expect(result.done == 6 && result.left == 4)
    #expect(result.stoppedBy == .quota)
  }

  /// Otherwise it would never be sent.
  @Test func aFileLargerThanTheQuotaHasADayOfItsOwn() throws {
    try add(job: "nightly")
    try store.setQuota(ofJob: "nightly", JobQuota(bytes: 3_000, per: .day))
    for day in 1...5 {
      #expect(try run().done == 1)
      #expect(try arrived() == day)
      clock.advance(ms: 86_400_000)
    }
  }

  @Test func aWiderQuotaAppliesAtOnce() throws {
    try add(job: "nightly")
    try store.setQuota(ofJob: "nightly", JobQuota(bytes: 10_000, per: .month))
    #expect(try run().done == 1)
    try store.setQuota(ofJob: "nightly", JobQuota(bytes: 30_000, per: .month))
    #expect(try run().done == 2)
    try store.setQuota(ofJob: "nightly", nil)
    #expect(try run().done == 2)
  }
}
