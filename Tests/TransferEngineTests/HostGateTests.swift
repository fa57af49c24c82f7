import Testing

@testable import TransferEngine

@Suite struct HostGateTests {
  @Test func fiveRefusedConnectionsOpenTheBreakerAndOneProbeClosesIt() {
    var gate = gate(4)
    for _ in 0..<4 { refuse(&gate, at: 0) }
    #expect(gate.allowsAnother(nowMs: 0))
    refuse(&gate, at: 0)
    #expect(!gate.allowsAnother(nowMs: 999))
    #expect(gate.opensAtMs(nowMs: 0) == 1_000)
    #expect(gate.allowsAnother(nowMs: 1_000))
    gate.started(1, nowMs: 1_000)
    #expect(!gate.allowsAnother(nowMs: 1_000), "only one request probes")
    gate.ended(1, .noConnection, nowMs: 1_000)
    #expect(gate.opensAtMs(nowMs: 1_000) == 3_000, "doubled")
    #expect(gate.opensInARow == 2)
    gate.started(1, nowMs: 3_000)
    gate.ended(1, .success, nowMs: 3_000)
    #expect(gate.allowsAnother(nowMs: 3_000))
    #expect(gate.opensInARow == 0)
  }

  /// The network of the time before a sleep is not that of the time after it. The server's own wish remains.
  @Test func aSleepClosesTheBreaker() {
    var gate = gate(4)
    for _ in 0..<5 { refuse(&gate, at: 0) }
    #expect(gate.isOpen && gate.opensInARow == 1)
    gate.slept()
    #expect(!gate.isOpen && gate.allowsAnother(nowMs: 0) && gate.opensInARow == 0)
    gate.started(1, nowMs: 0)
    gate.ended(1, .throttled(retryAfterMs: 7_000), nowMs: 0)
    gate.slept()
    #expect(!gate.allowsAnother(nowMs: 6_999))
  }

  @Test func theBreakerIsNeverOpenForMoreThanFiveMinutes() {
    var gate = gate(4)
    for _ in 0..<5 { refuse(&gate, at: 0) }
    var now: Int64 = 0
    var waits: [Int64] = []
    for _ in 0..<11 {
      let opening = gate.opensAtMs(nowMs: now) ?? now
      waits.append((opening - now) / 1_000)
      now = opening
      refuse(&gate, at: now)
    }
    #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  }

  /// A server that restarts refuses all running and new requests: that opens the breaker once and uses up no retries.
  @Test func aBurstOfRefusalsIsOneFailure() {
    var gate = gate(64)
    for _ in 0..<64 { gate.started(1, nowMs: 0) }
    var extra: Int64 = 0
    for _ in 0..<64 {
      gate.ended(1, .noConnection, nowMs: 0)
      extra += gate.chargeRetry(isThrottled: false)
    }
    #expect(gate.opensInARow == 1)
    #expect(gate.opensAtMs(nowMs: 0) == 1_000)
    #expect(extra == 0)
    gate.started(1, nowMs: 1_000)
    gate.ended(1, .success, nowMs: 1_000)
    #expect(gate.chargeRetry(isThrottled: false) == 0)
  }

  @Test func retryAfterHoldsTheWholeHost() {
    var gate = gate(4)
    gate.started(1, nowMs: 1_000)
    gate.ended(1, .throttled(retryAfterMs: 7_000), nowMs: 1_000)
    #expect(!gate.allowsAnother(nowMs: 7_999))
    #expect(gate.allowsAnother(nowMs: 8_000))
  }

  @Test func theRetryBudgetRunsDryAndFillsWithSuccesses() {
    var gate = gate(4)
    for _ in 0..<20 { #expect(gate.chargeRetry(isThrottled: false) == 0) }
    #expect(gate.chargeRetry(isThrottled: false) == HostGate.dryBudgetMs)
    for _ in 0..<5 { succeed(&gate, at: 0) }
    #expect(gate.chargeRetry(isThrottled: false) == 0)
    #expect(gate.chargeRetry(isThrottled: true) == HostGate.dryBudgetMs)
  }

  /// A server that allows one connection refuses all others, each time the limit grows again: that is not paid from the
  /// budget, whose end would stop every retry for 15 s. A server that refuses a single request is paid for.
  @Test func whatIsRefusedBesideOthersCostsNothing() {
    var gate = gate(4)
    for request: UInt64 in 0..<40 {
      gate.started(2 * request, nowMs: 0)
      gate.started(2 * request + 1, nowMs: 0)
      gate.ended(2 * request + 1, .throttled(retryAfterMs: nil), nowMs: 0)
      #expect(gate.chargeRetry(isThrottled: true) == 0)
      gate.ended(2 * request, .interrupted, nowMs: 0)
    }
    for request: UInt64 in 0..<11 {
      gate.started(request, nowMs: 0)
      gate.ended(request, .throttled(retryAfterMs: nil), nowMs: 0)
      #expect(gate.chargeRetry(isThrottled: true) == (request < 10 ? 0 : HostGate.dryBudgetMs))
    }
  }

  /// A line of 4 MB/s that is cut every eight seconds, with 16 MiB parts: five of them at a time never end, one does.
  @Test func aLineThatDropsIsLeftToOneRequest() {
    var gate = gate(8)
    var now: Int64 = 0
    for _ in 0..<3 {
      let count = min(5, gate.limit)
      for _ in 0..<count { gate.started(1, nowMs: now) }
      now += 8_000
      for _ in 0..<count { gate.ended(1, .lost, nowMs: now) }
    }
    #expect(gate.limit == 1)
    #expect(gate.isLossy)
    #expect(gate.opensInARow == 0, "the host is reachable")
    for _ in 0..<20 { succeed(&gate, at: now) }
    #expect(!gate.isLossy)
    #expect(gate.limit == 2)
  }

  @Test func requestsThatAreLostTogetherAreOneLoss() {
    var gate = gate(8)
    for _ in 0..<8 { gate.started(1, nowMs: 0) }
    for _ in 0..<8 { gate.ended(1, .lost, nowMs: 8_000) }
    #expect(!gate.isLossy)
    #expect(gate.limit == 4)
  }

  /// Repetitions that follow one another quickly do not become one loss that goes on: each second counts.
  @Test func lossesAtShortIntervalsAreCounted() {
    var gate = gate(1)
    succeed(&gate, at: 0, bytes: 1)
    for n in Int64(0)..<41 {
      gate.started(1, nowMs: n * 200)
      gate.ended(1, .lost, nowMs: n * 200)
    }
    #expect(gate.lossesInARow == 9)
    #expect(!gate.dropsNow)
  }

  /// As long as nothing has arrived, nothing says that the line lets anything through.
  @Test func lossesBeforeAnythingArrivedAreNoDrops() {
    var gate = gate(1)
    gate.started(1, length: 1_000, nowMs: 0)
    gate.ended(1, .lost, length: 1_000, nowMs: 4_000)
    #expect(!gate.dropsNow)
    succeed(&gate, at: 5_000, bytes: 1)
    gate.started(1, length: 1_000, nowMs: 5_000)
    gate.ended(1, .lost, length: 1_000, nowMs: 9_000)
    #expect(gate.dropsNow)
  }

  /// A line that drops for hours: as long as bodies arrive in between, each loss costs one token instead of five, so
  /// that no retry has to wait for the budget.
  @Test func lossesBetweenBodiesThatArriveDoNotUseUpTheBudget() {
    var gate = gate(1)
    var extra: Int64 = 0
    for cycle in Int64(0)..<1_000 {
      gate.started(1, length: 1_000, nowMs: cycle * 8_000)
      gate.ended(1, .success, bytes: 1_000, length: 1_000, nowMs: cycle * 8_000 + 4_000)
      gate.started(1, length: 1_000, nowMs: cycle * 8_000 + 4_000)
      gate.ended(1, .lost, length: 1_000, nowMs: cycle * 8_000 + 8_000)
      extra += gate.chargeRetry(isThrottled: false, isLoss: true)
      #expect(gate.dropsNow)
    }
    #expect(extra == 0)
    #expect(gate.lossesInARow == 1)
  }

  /// A server that restarts loses all running requests: this counts as one loss and does not use up the retry budget.
  @Test func bodiesThatAreLostTogetherPayOnce() {
    var gate = gate(64)
    for _ in 0..<64 { gate.started(1, length: 1_000, nowMs: 0) }
    var extra: Int64 = 0
    for n in Int64(0)..<64 {
      gate.ended(1, .lost, length: 1_000, nowMs: 1_000 + n)
      extra += gate.chargeRetry(isThrottled: false, isLoss: true)
    }
    #expect(extra == 0)
    for _ in 0..<19 { #expect(gate.chargeRetry(isThrottled: false) == 0, "one of a hundred tokens was paid") }
  }

  /// If nothing arrives any more, the line is not the only cause.
  @Test func manyLossesInARowCountAsFailures() {
    var gate = gate(1)
    succeed(&gate, at: 0, bytes: 1)
    for n in Int64(0)..<8 {
      #expect(n == 0 || gate.dropsNow)
      gate.started(1, length: 1_000, nowMs: n * 8_000)
      gate.ended(1, .lost, length: 1_000, nowMs: n * 8_000 + 4_000)
    }
    #expect(!gate.dropsNow)
  }

  private func gate(_ workers: Int) -> HostGate {
    HostGate(Concurrency(first: workers, highest: workers, isExplicit: true))
  }

  private func succeed(_ gate: inout HostGate, at now: Int64, bytes: Int64 = 0) {
    gate.started(1, nowMs: now)
    gate.ended(1, .success, bytes: bytes, nowMs: now)
  }

  private func refuse(_ gate: inout HostGate, at now: Int64) {
    gate.started(1, nowMs: now)
    gate.ended(1, .noConnection, nowMs: now)
  }
}
