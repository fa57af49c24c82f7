/// Where files stand: what `status` and lists of batches add up. Counted from the indexes that separate the states,
/// which hold the sizes too, and of done files from their sums; no row of a table is read but for files that are in
/// work or were cut off.
public struct StateTotals: Sendable, Hashable {
  /// Files by state, without those that a newer generation replaced.
  public var byState: [FileState: Int] = [:]
  /// Sum of their sizes.
  public var bytes: Int64 = 0
  /// Sum of what the server acknowledged of chunks; of a done file that is its size.
  public var bytesAcked: Int64 = 0
  /// Failed files whose cause is `integrity.mismatch`.
  public var mismatched = 0

  public init() {}

  public func count(_ state: FileState) -> Int { byState[state] ?? 0 }
  public var files: Int { byState.values.reduce(0, +|) }
  /// The same but for those; never below nothing.
  public func without(_ others: StateTotals) -> StateTotals {
    var totals = self
    totals.byState.merge(others.byState.filter { byState[$0.key] != nil }) { max(0, $0 - $1) }
    totals.bytes = max(0, bytes -| others.bytes)
    totals.bytesAcked = max(0, bytesAcked -| others.bytesAcked)
    totals.mismatched = max(0, mismatched - others.mismatched)
    return totals
  }

  /// Files that an engine still has to bring to an end.
  public var left: Int { FileTotals(self).left }
}

extension FileTotals {
  public init(_ states: StateTotals) {
    self.init(
      byState: states.byState, bytes: states.bytes, bytesAcked: states.bytesAcked, mismatched: states.mismatched)
  }
}
