public import TransferModel

/// What the writer of an engine does while the disk of its ledger is full or fails: what was learned from servers stays
/// in memory and is committed again, because for a request that must not be repeated an answer that is lost here is
/// lost for good.
public struct CommitRetry: Sendable {
  /// For how long a transaction is tried again, in milliseconds of the boot clock; 0 for once, after space was given
  /// back.
  public var forMs: Int64
  /// Called on the writer's thread when a transaction fails because of the disk: nothing new should begin. Not for the
  /// first I/O error of a run, which one new connection often cures. May be called repeatedly.
  public var onTrouble: @Sendable (TransferError) -> Void
  /// Waits so many milliseconds before the next try; nil for the writer's own wait, which ``Ledger/stopRetrying()``
  /// ends.
  var pause: (@Sendable (Int64) -> Void)?

  public init(forMs: Int64, onTrouble: @escaping @Sendable (TransferError) -> Void) {
    self.forMs = forMs
    self.onTrouble = onTrouble
  }

  static let pauseMs: Int64 = 1_000
}
