public import TransferModel

/// The right to deliver callbacks, which one process has at a time; the kernel releases it when the process ends.
/// Separate from the lock of the engine, so that a slow receiver does not block an engine.
public final class DeliveryTurn: Sendable {
  private let lock: SidecarLock

  private init(_ lock: SidecarLock) { self.lock = lock }

  /// nil while another process has it.
  static func take(ofLedger path: String) throws(TransferError) -> DeliveryTurn? {
    let lock = try SidecarLock(path: path + ".callbacks")
    return try lock.tryLockExclusive() ? DeliveryTurn(lock) : nil
  }
}

extension Ledger {
  /// The right to deliver callbacks; nil while another process has it. Deliveries that a crashed process
  /// left open are closed first.
  public func deliveryTurn() throws(TransferError) -> DeliveryTurn? {
    guard let turn = try DeliveryTurn.take(ofLedger: path) else { return nil }
    try write { tx in try tx.recoverDeliveries() }
    return turn
  }
}
