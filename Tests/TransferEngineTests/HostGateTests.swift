import Testing

@testable import TransferEngine

@Suite struct HostGateTests {
  @Test func concurrencyGrowsWithSuccessAndIsHalvedByThrottling() {
    var gate = HostGate(highest: 10)
    #expect(gate.limit == 8)
    for _ in 0..<40 { succeed(&gate, at: 0) }
    #expect(gate.limit == 10)
    throttle(&gate, at: 1_000)
    #expect(gate.limit == 5)
    throttle(&gate, at: 2_000)
    #expect(gate.limit == 5, "halved again within five seconds")
    throttle(&gate, at: 6_000)
    #expect(gate.limit == 2)
  }

  @Test func fiveRefusedConnectionsOpenTheBreakerAndOneProbeClosesIt() {
    var gate = HostGate(highest: 4)
    for _ in 0..<4 { refuse(&gate, at: 0) }
    #expect(gate.allowsAnother(nowMs: 0))
    refuse(&gate, at: 0)
    #expect(!gate.allowsAnother(nowMs: 14_999))
    #expect(gate.opensAtMs(nowMs: 0) == 15_000)
    #expect(gate.allowsAnother(nowMs: 15_000))
    gate.started()
    #expect(!gate.allowsAnother(nowMs: 15_000), "only one request probes")
    gate.ended(.noConnection, nowMs: 15_000)
    #expect(gate.opensAtMs(nowMs: 15_000) == 45_000, "doubled")
    #expect(gate.opensInARow == 2)
    gate.started()
    gate.ended(.success, nowMs: 45_000)
    #expect(gate.allowsAnother(nowMs: 45_000))
    #expect(gate.opensInARow == 0)
  }

  @Test func requestsThatWereUnderWayDoNotOpenItAgain() {
    var gate = HostGate(highest: 8)
    for _ in 0..<8 { gate.started() }
    for _ in 0..<8 { gate.ended(.noConnection, nowMs: 0) }
    #expect(gate.opensInARow == 1)
    #expect(gate.opensAtMs(nowMs: 0) == 15_000)
  }

  @Test func retryAfterHoldsTheWholeHost() {
    var gate = HostGate(highest: 4)
    gate.started()
    gate.ended(.throttled(retryAfterMs: 7_000), nowMs: 1_000)
    #expect(!gate.allowsAnother(nowMs: 7_999))
    #expect(gate.allowsAnother(nowMs: 8_000))
  }

  @Test func theRetryBudgetRunsDryAndFillsWithSuccesses() {
    var gate = HostGate(highest: 4)
    for _ in 0..<20 { #expect(gate.chargeRetry(isThrottled: false) == 0) }
    #expect(gate.chargeRetry(isThrottled: false) == HostGate.dryBudgetMs)
    for _ in 0..<5 { succeed(&gate, at: 0) }
    #expect(gate.chargeRetry(isThrottled: false) == 0)
    #expect(gate.chargeRetry(isThrottled: true) == HostGate.dryBudgetMs)
  }

  private func succeed(_ gate: inout HostGate, at now: Int64) {
    gate.started()
    gate.ended(.success, nowMs: now)
  }

  private func refuse(_ gate: inout HostGate, at now: Int64) {
    gate.started()
    gate.ended(.noConnection, nowMs: now)
  }

  private func throttle(_ gate: inout HostGate, at now: Int64) {
    gate.started()
    gate.ended(.throttled(retryAfterMs: nil), nowMs: now)
  }
}
