/// What ``LedgerTransaction/recover(_:)`` found and put right.
public struct Recovery: Sendable, Hashable {
  /// Files that the rules of the ledger did not let go, and why.
  public var refused: [FileID: String] = [:]
  public var crashedAttempts: Int
  public var requeuedFiles: Int
  public var unknownFiles: Int
  /// Asked for while the dead run had them, done now.
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
