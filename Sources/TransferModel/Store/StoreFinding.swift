/// A row that breaks a rule of the ledger.
public struct Finding: Sendable, Hashable {
  /// For example `I06 done file has only done chunks`.
  public var invariant: String
  /// The offending row, one line.
  public var detail: String

  package init(invariant: String, detail: String) {
    self.invariant = invariant
    self.detail = detail
  }
}
