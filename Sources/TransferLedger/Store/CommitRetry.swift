public import TransferModel

/// How the writer of an engine handles a full or failing disk: the results that it received from servers stay in memory
/// and are committed again, because the answer to a request that must not be repeated cannot be obtained again.
public struct CommitRetry: Sendable {
  /// How long a transaction is retried, in milliseconds of the boot clock; 0 for one retry, after reserved space was
  /// released.
  public var forMs: Int64
  /// Called on the writer's thread when a transaction fails because of the disk: no new work should begin. Not called
  /// for the first I/O error of a run, which a new connection often fixes. May be called repeatedly.
  public var onTrouble: @Sendable (TransferError) -> Void
  /// Waits for this many milliseconds before the next retry; nil for the writer's own wait, which
  /// ``Ledger/stopRetrying()`` ends.
  var pause: (@Sendable (Int64) -> Void)?

  public init(forMs: Int64, onTrouble: @escaping @Sendable (TransferError) -> Void) {
    self.forMs = forMs
    self.onTrouble = onTrouble
  }

  static let pauseMs: Int64 = 1_000
}
