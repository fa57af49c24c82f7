import TransferModel

/// Times in which a batch had ended, before files of it were retried.
extension LedgerReader {
  /// By batch, in chronological order. A batch is idle from the end of its last attempt to a retry, unless another of
  /// the selected files was not finished then.
  /// - Parameter decisions: those about files that the filter selects.
  func idleTimes(before decisions: [FileDecision], _ filter: RowFilter) throws -> [Int64: [TimeSpan]] {
    let retries = decisions.filter { $0.kind == .retried || $0.kind == .resolved }
    var retried: [Int64: [(atMs: Int64, files: [[Int64]])]] = [:]
    for retry in retries {
      let files = retry.files.map { [$0.lowerBound, $0.upperBound] }
      for batch in try db.rows(Self.batchesOfRanges, .text(try jsonText(files)), row: { $0.int64(0) }) {
        retried[batch, default: []].append((retry.atMs, files))
      }
    }
    return try Dictionary(
      uniqueKeysWithValues: retried.map { batch, retries in
        var ofBatch = filter
        (ofBatch.sinceMs, ofBatch.untilMs, ofBatch.withinBatches) = (nil, nil, [batch])
        let active = try attemptSums(ofBatch).active
        let idle = try retries.indices.compactMap { i -> TimeSpan? in
          guard let idle = active.idle(before: retries[i].atMs) else { return nil }
          let later = try jsonText(retries[i...].flatMap { $0.files })
          let isBusy = try db.first(
            Self.unfinished, ofBatch, .integer(retries[i].atMs), .text(later)
          ) { $0.flag(0) }
          return isBusy == true ? nil : idle
        }
        return (batch, Self.disjoint(idle))
      })
  }

  /// Two retries in succession end the same idle time: the first of them counts.
  private static func disjoint(_ spans: [TimeSpan]) -> [TimeSpan] {
    spans.sorted { $0.toMs < $1.toMs }.reduce(into: []) { found, span in
      if span.fromMs >= found.last?.toMs ?? .min { found.append(span) }
    }
  }

  static let batchesOfRanges: StaticString = """
    SELECT DISTINCT f.batch_id FROM json_each(?1) r CROSS JOIN file f ON f.id BETWEEN r.value ->> 0 AND r.value ->> 1
    """
  /// Whether a selected file was not finished at ?1. Files that are retried then or later, in the ranges ?2, do not
  /// count: the row has only their last end.
  static let unfinished: StaticString = """
    SELECT EXISTS (SELECT 1 FROM file f
      WHERE {files} AND f.created_at <= ?1 AND f.state <> 'superseded'
        AND (f.state IN ('settling', 'pending', 'active', 'finishing') OR f.finished_at > ?1)
        AND NOT EXISTS (SELECT 1 FROM json_each(?2) r WHERE f.id BETWEEN r.value ->> 0 AND r.value ->> 1))
    """
}
