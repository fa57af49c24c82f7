/// Totals by state, for `status` and lists of batches. Computed from the indexes that separate the states, which also
/// contain the sizes, and for done files from their sums; rows are read only for active files and those of crashed
/// attempts.
public struct StateTotals: Sendable, Hashable {
  /// Files by state, without superseded generations.
  public var byState: [FileState: Int] = [:]
  /// Sum of their sizes.
  public var bytes: Int64 = 0
  /// Sum of the acknowledged bytes of chunks; for a done file its size.
  public var bytesAcked: Int64 = 0
  /// Failed files whose cause is `integrity.mismatch`.
  public var mismatched = 0
  /// Files that are left and of which the size is not known yet: they are not in ``bytes``.
  package var unsized = 0

  package init() {}

  public func count(_ state: FileState) -> Int { byState[state] ?? 0 }
  public var files: Int { byState.values.reduce(0, +|) }
  /// The difference of two totals; never negative.
  package func without(_ others: StateTotals) -> StateTotals {
    var totals = self
    totals.byState.merge(others.byState.filter { byState[$0.key] != nil }) { max(0, $0 - $1) }
    totals.bytes = max(0, bytes -| others.bytes)
    totals.bytesAcked = max(0, bytesAcked -| others.bytesAcked)
    totals.mismatched = max(0, mismatched - others.mismatched)
    totals.unsized = max(0, unsized - others.unsized)
    return totals
  }

  /// Files that an engine still has to finish.
  public var left: Int { FileTotals(self).left }
}

extension FileTotals {
  package init(_ states: StateTotals) {
    self.init(
      byState: states.byState, bytes: states.bytes, bytesAcked: states.bytesAcked, mismatched: states.mismatched)
    unsized = states.unsized
  }
}
