import TransferEngine
import TransferLedger
package import TransferModel
import TransferProtocols

extension UploadOptions {
  /// The row that records a complete scan.
  func scan(
    _ sources: [NameBytes], at place: String, _ counts: SourceCounts, refused: Int, tookMs: Int64
  ) -> ScanRow {
    ScanRow(
      job: job ?? "", place: place,
      sources: ScannedSources(
        from: sources.map { AbsolutePath.of($0.embedded) }.sorted(),
        list: list.map { $0.path.map { AbsolutePath.of($0.embedded) } ?? "-" },
        rules: rules.map(\.label)), tookMs: tookMs, counts: counts, refused: refused)
  }
}

extension StoreReader {
  /// The last complete scans of one job or of all jobs, newest first.
  package func scans(ofJob job: String? = nil, limit: Int = 1_000) throws -> [ScanRow] {
    try reader.scans(ofJob: job, limit: limit)
  }

  /// Sources of the selected files that are to be deleted or moved and still exist. Of kept sources, only those that
  /// were given up at or after `keptSinceMs`.
  package func removals(_ filter: RowFilter, keptSinceMs: Int64 = .min) throws -> RemovalTotals {
    try reader.removals(filter, keptSinceMs: keptSinceMs)
  }

  /// The same for all batches of a job.
  package func removals(ofJob job: String, keptSinceMs: Int64) throws -> RemovalTotals {
    try reader.removals(ofJob: job, keptSinceMs: keptSinceMs)
  }

  /// Whether the removal of a source or a callback is due now. An engine does both even if no files are left. Looks at
  /// no disk, which may not answer: a removal that waits for its folder is not due.
  package func isUpkeepDue(nowMs: Int64) throws -> Bool {
    if try hasDueCallback(nowMs: nowMs) { return true }
    return try reader.hasDueRemoval()
  }

  package func missingCallback(among ids: [Int64]) throws -> Int64? { try reader.missingCallback(among: ids) }

  package func hasDueCallback(nowMs: Int64) throws -> Bool {
    try reader.hasDueCallback(nowMs: nowMs, resting: [])
  }
}
