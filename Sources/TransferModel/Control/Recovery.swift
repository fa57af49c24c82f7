/// The result of ``LedgerTransaction/recover(_:)``.
package struct Recovery: Sendable, Hashable {
  /// Files that could not be released because of a rule of the ledger, with the reason.
  package var refused: [FileID: String] = [:]
  package var crashedAttempts: Int
  package var requeuedFiles: Int
  package var unknownFiles: Int
  /// Pause requests during the crashed run, applied now.
  package var pausedFiles: Int
  package var cancelledFiles: Int

  package init(
    crashedAttempts: Int, requeuedFiles: Int, unknownFiles: Int, pausedFiles: Int = 0, cancelledFiles: Int = 0
  ) {
    self.crashedAttempts = crashedAttempts
    self.requeuedFiles = requeuedFiles
    self.unknownFiles = unknownFiles
    self.pausedFiles = pausedFiles
    self.cancelledFiles = cancelledFiles
  }
}
