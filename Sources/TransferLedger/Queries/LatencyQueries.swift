public import TransferModel

extension LedgerReader {
  /// Figures over the attempts for the files that the filter selects.
  public func attemptTotals(_ filter: RowFilter) throws -> AttemptTotals { try attemptSums(filter).totals }
}
