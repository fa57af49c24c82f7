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
    let ending = WorkerThread { deliveries.finish(withinMs: 0, graceMs: 60_000) }
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
    deliveries.finish(withinMs: 0, graceMs: 0)
    #expect(try states(ledger) == ["waiting", "waiting"])
    carrier.open()
  }
}
