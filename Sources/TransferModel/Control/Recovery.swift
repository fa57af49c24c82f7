/// The result of ``LedgerTransaction/recover(_:)``.
public struct Recovery: Sendable, Hashable {
  /// Files that could not be released because of a rule of the ledger, with the reason.
  public var refused: [FileID: String] = [:]
  public var crashedAttempts: Int
  public var requeuedFiles: Int
  public var unknownFiles: Int
  /// Pause requests during the crashed run, applied now.
  public var pausedFiles: Int
  public var cancelledFiles: Int

  public init(
    crashedAttempts: Int, requeuedFiles: Int, unknownFiles: Int, pausedFiles: Int = 0, cancelledFiles: Int = 0
  ) {
    self.crashedAttempts = crashedAttempts
    self.requeuedFiles = requeuedFiles
    self.unknownFiles = unknownFiles
    self.pausedFiles = pausedFiles
    self.cancelledFiles = cancelledFiles
  }
}
