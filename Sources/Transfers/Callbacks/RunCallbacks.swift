import TransferEngine
import TransferLedger
package import TransferModel

/// The callbacks of one command, or of one call of the library, which may start several engines one after the other.
/// They are delivered from the start of the first engine until ``finish(isStopped:)``: a receiver that hangs keeps no
/// further engine waiting, and what is recorded after the last engine has the same deadline as the rest.
package final class RunCallbacks: Sendable {
  private struct Open: Sendable {
    let ledger: Ledger
    let delivery: CallbackDelivery
    let deliveries: CallbackDeliveries
  }

  private let open = Lock<Open?>(nil)

  package init() {}

  /// Whether deliveries have been started, and ``finish(isStopped:)`` is still to come.
  package var isOpen: Bool { open.withLock { $0 != nil } }

  /// Starts deliveries with this ledger, which ``finish(isStopped:)`` closes then.
  /// - Returns: false if they go on with the ledger of an earlier engine; the caller keeps this one.
  func start(_ ledger: Ledger, on machine: Machine, clock: any TransferClock) throws(TransferError) -> Bool {
    try open.withLock { (held: inout Open?) throws(TransferError) in
      guard held == nil else { return false }
      let delivery = CallbackDelivery(ledger, clock: clock, carriedBy: machine.transport)
      let deliveries = CallbackDeliveries(ledger, by: delivery, clock: clock)
      try deliveries.start()
      held = Open(ledger: ledger, delivery: delivery, deliveries: deliveries)
      return true
    }
  }

  /// Begins what is due for some seconds, and waits for what it has begun (``CallbackDeadline``). What is not delivered
  /// by then is due again in the next run. Does nothing if no deliveries were started. Blocking.
  /// - Parameter isStopped: polled; true when a person does not want to wait any longer.
  package func finish(isStopped: @escaping @Sendable () -> Bool) { finish(.ofRun, isStopped) }

  func finish(_ deadline: CallbackDeadline, _ isStopped: @escaping @Sendable () -> Bool) {
    let open = open.withLock { held in
      defer { held = nil }
      return held
    }
    guard let open else { return }
    open.deliveries.finish(deadline, isStopped: isStopped)
    open.delivery.stop()
    open.ledger.close()
  }
}

extension TransferStore {
  /// Starts the deliveries of a command that has started no engine.
  package func start(_ callbacks: RunCallbacks) throws(TransferError) {
    guard !callbacks.isOpen else { return }
    let ledger = try open(.existing)
    do throws(TransferError) {
      if try !callbacks.start(ledger, on: machine, clock: machine.clock) { ledger.close() }
    } catch {
      ledger.close()
      throw error
    }
  }

  /// Delivers callbacks that are due, for at most this time; skips those that an engine or another process is
  /// delivering at the moment. Returns how many are left.
  /// - Parameter isStopped: polled; true when a person does not want to wait any longer.
  package func deliverCallbacks(
    withinMs: Int64, isStopped: @escaping @Sendable () -> Bool
  ) throws(TransferError) -> CallbacksLeft {
    let callbacks = RunCallbacks()
    try start(callbacks)
    callbacks.finish(CallbackDeadline(beginMs: withinMs), isStopped)
    let ledger = try open(.existing)
    defer { ledger.close() }
    return try ledger.read { try $0.callbacksLeft() }
  }
}
