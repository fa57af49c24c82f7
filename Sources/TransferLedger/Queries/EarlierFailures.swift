package import TransferModel

/// The failures of an `add` of which it has recorded no row: an earlier one has recorded the same failure of the same
/// file, or the key belongs to something of another kind.
package struct EarlierFailures: Sendable, Hashable {
  /// By the batch that has the rows; nil for those without a row that is shown.
  private var hits: [BatchID?: [ErrorCode: FailureHits]] = [:]

  package init() {}

  mutating func insert(_ code: ErrorCode, of batch: BatchID?, _ one: FailureHits) {
    if hits[batch, default: [:]][code]?.add(one) == nil { hits[batch, default: [:]][code] = one }
  }

  /// The failure of a source without a row.
  package mutating func insert(_ failure: Failure, of path: NameBytes) {
    insert(failure.code, of: nil, FailureHits(count: 1, example: 0, path: path, message: failure.message))
  }

  /// How many have no row that is shown; `code` counts only those with this code.
  package func withoutRow(_ code: ErrorCode? = nil) -> Int {
    (hits[nil] ?? [:]).reduce(0) { sum, one in code == nil || one.key == code ? sum + Int(one.value.count) : sum }
  }

  /// The source of one that has no row, of the first code by name.
  package var pathWithoutRow: NameBytes? {
    (hits[nil] ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }.lazy.compactMap(\.value.path).first
  }

  package mutating func append(_ other: EarlierFailures) {
    for (batch, codes) in other.hits { for (code, some) in codes { insert(code, of: batch, some) } }
  }

  func byCode(outside batches: [Int64]) -> [String: FailureHits] {
    hits.reduce(into: [:]) { sum, part in
      guard part.key.map({ !batches.contains($0.rawValue) }) ?? true else { return }
      for (code, some) in part.value where sum[code.rawValue]?.add(some) == nil { sum[code.rawValue] = some }
    }
  }
}

extension LedgerReader {
  /// ``failures(_:)``, and the earlier ones that an `add` has found again. If the filter has no time, it selects those
  /// of its batches anyway.
  package func failures(_ filter: RowFilter, and earlier: EarlierFailures) throws -> [FailureRow] {
    let selected = filter.finishedSinceMs == nil ? filter.withinBatches ?? [] : []
    return try failures(filter, more: earlier.byCode(outside: selected))
  }
}
