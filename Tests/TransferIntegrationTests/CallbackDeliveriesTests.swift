import TransferEngine
import TransferModel
import Testing

@testable import TransferLedger

/// How deliveries end together with the run that started them.
@Suite struct CallbackDeliveriesTests {
  /// Waits until it may end, or until nobody waits for it any more.
  private final class SlowCarrier: CallbackCarrier {
    let begun = Mailbox<Int64>()
    private let gate = Mailbox<Bool>()

    func open() { gate.close() }
    func deliver(_ callback: DueCallback, isOver: @escaping @Sendable () -> Bool) -> DeliveryEnd {
      begun.put(callback.id)
      while gate.take(timeoutMs: 5) != nil {
        if isOver() { return DeliveryEnd(.interrupted) }
      }
      return DeliveryEnd(.ok)
    }
  }

  private func ledger(in scene: Scene) throws -> Ledger {
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: SystemClock())
    let setting = CallbackSetting(.succeeded, .exec, "true")
    for uid in 1...2 as ClosedRange<UInt64> {
      try ledger.write {
        try $0.tell(.succeeded, ofJob: "j\(uid)", uid: UID(high: 1, low: uid), body: "{}", [setting])
      }
    }
    return ledger
  }

  private func states(_ ledger: Ledger) throws -> [String] {
    try ledger.read { try $0.callbacks(after: 0, isOpen: false, limit: 9).map { $0.state.rawValue } }
  }

  /// A delivery that takes longer than the end of a run would be started by every run and finished by none.
  @Test func whatHasBegunIsDeliveredAlsoAfterTheTime() throws {
    let scene = try Scene()
    let ledger = try ledger(in: scene)
    defer { ledger.close() }
    let carrier = SlowCarrier()
    let deliveries = CallbackDeliveries(ledger, by: carrier, clock: SystemClock())
    try deliveries.start()
    var begun = 0
    while begun < 2 { begun += carrier.begun.take()?.count ?? 2 }
    let ending = WorkerThread { deliveries.finish(CallbackDeadline(beginMs: 0, interruptMs: 60_000)) }
    // Time for the carrier to check ten times whether anybody still waits.
    _ = Mailbox<Bool>().take(timeoutMs: 50)
    carrier.open()
    ending.join()
    #expect(try states(ledger) == ["delivered", "delivered"])
  }

  @Test func whoeverStopsTheRunDoesNotWait() throws {
    let scene = try Scene()
    let ledger = try ledger(in: scene)
    defer { ledger.close() }
    let carrier = SlowCarrier()
    let deliveries = CallbackDeliveries(ledger, by: carrier, clock: SystemClock())
    try deliveries.start()
    _ = carrier.begun.take()
    deliveries.finish(CallbackDeadline(beginMs: 0, interruptMs: 0))
    #expect(try states(ledger) == ["waiting", "waiting"])
    carrier.open()
  }

  /// Never ends, whoever waits for it.
  private final class StuckCarrier: CallbackCarrier {
    let begun = Mailbox<Int64>()
    private let gate = Mailbox<Bool>()

    func open() { gate.close() }
    func deliver(_ callback: DueCallback, isOver: @escaping @Sendable () -> Bool) -> DeliveryEnd {
      begun.put(callback.id)
      while gate.take() != nil {}
      return DeliveryEnd(.ok)
    }
  }

  /// Begun last, with its limit, and with the time of a program that is killed.
  @Test func nothingHoldsARunForMoreThan40Seconds() {
    let deadline = CallbackDeadline.ofRun
    #expect(deadline.abandonMs == 40_000)
    #expect(deadline.beginMs + CallbackDeadline.limitMs < deadline.interruptMs)
    #expect(deadline.interruptMs + 2_000 < deadline.abandonMs)
  }

  /// One that cannot even be interrupted is left behind, and is due again.
  @Test func whatCannotBeInterruptedIsAbandoned() throws {
    let scene = try Scene()
    let ledger = try ledger(in: scene)
    defer { ledger.close() }
    let carrier = StuckCarrier()
    defer { carrier.open() }
    let deliveries = CallbackDeliveries(ledger, by: carrier, clock: SystemClock())
    try deliveries.start()
    var begun = 0
    while begun < 2 { begun += carrier.begun.take()?.count ?? 2 }
    // Its deadline is long past.
    deliveries.finish(CallbackDeadline(beginMs: -60_000, interruptMs: -50_000))
    #expect(try states(ledger) == ["delivering", "delivering"])
    let turn = try #require(try ledger.deliveryTurn())
    #expect(try states(ledger) == ["waiting", "waiting"])
    _ = turn
  }

  /// A signal during the wait.
  @Test func whoeverStopsTheRunLaterEndsTheWait() throws {
    let scene = try Scene()
    let ledger = try ledger(in: scene)
    defer { ledger.close() }
    let (carrier, clock) = (SlowCarrier(), MovableClock())
    defer { carrier.open() }
    let deliveries = CallbackDeliveries(ledger, by: carrier, clock: clock)
    try deliveries.start()
    var begun = 0
    while begun < 2 { begun += carrier.begun.take()?.count ?? 2 }
    deliveries.finish(CallbackDeadline(beginMs: 1_000_000, interruptMs: 2_000_000)) {
      // Each look is somewhat later.
      clock.advance(ms: 400)
      return true
    }
    #expect(try states(ledger) == ["waiting", "waiting"])
  }
}
