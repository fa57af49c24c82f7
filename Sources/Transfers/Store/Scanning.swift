import TransferEngine
import TransferLedger
package import TransferModel
import TransferProtocols

extension UploadOptions {
  /// What is remembered of a scan that is complete.
  func scan(
    _ sources: [NameBytes], _ target: UploadTarget, _ counts: SourceCounts, tookMs: Int64
  ) -> ScanRow {
    ScanRow(
      job: job ?? "", place: target.transferProtocol.keyPlace,
      sources: ScannedSources(
        from: sources.map { AbsolutePath.of($0.embedded) }.sorted(),
        list: list.map { $0.path.map { AbsolutePath.of($0.embedded) } ?? "-" },
        rules: rules.map(\.label)), tookMs: tookMs, counts: counts)
  }
}

extension StoreReader {
  /// The last complete scans, the newest first; of one job, or of all.
  package func scans(ofJob job: String? = nil, limit: Int = 1_000) throws -> [ScanRow] {
    try reader.scans(ofJob: job, limit: limit)
  }

  /// How many sources wait to be deleted or moved, and how many stay that were to go;
  /// of one job, or of all.
  package func removalsLeft(ofJob job: String?) throws -> (waiting: Int, kept: Int) {
    try reader.removalsLeft(ofJob: job)
  }

  /// Sources of the selected files that are to be deleted or moved and are still there; of those that are kept only
  /// what was given up from `keptSinceMs` on.
  package func removals(_ filter: RowFilter, keptSinceMs: Int64 = .min) throws -> RemovalTotals {
    try reader.removals(filter, keptSinceMs: keptSinceMs)
  }

  /// Whether a source is to be deleted or moved, or somebody to be told, by now: what an engine does also where no file
  /// is left.
  package func isUpkeepDue(nowMs: Int64) throws -> Bool {
    if try reader.hasDueCallback(nowMs: nowMs, resting: []) { return true }
    return try !reader.dueRemovals(after: 0, limit: 1).isEmpty
  }
}
