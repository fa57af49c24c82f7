/// The last complete scan of a set of sources for a job, or for a destination without a job.
package struct ScanRow: Sendable, Hashable {
  /// The configured job; "" for none.
  package var job: String
  /// The destination of the keys, without secrets.
  package var place: String
  package var sources: ScannedSources
  /// When it was complete, in milliseconds since 1970 UTC. Set by the ledger.
  package var completedMs: Int64 = 0
  package var tookMs: Int64
  /// Counts are files.
  package var counts: SourceCounts
  /// Of the failed and unknown: those of which no row is shown. Each run refuses them again.
  package var refused: Int

  package init(
    job: String, place: String, sources: ScannedSources, tookMs: Int64, counts: SourceCounts, refused: Int = 0
  ) {
    self.job = job
    self.place = place
    self.sources = sources
    self.tookMs = tookMs
    self.counts = counts
    self.refused = refused
  }

  /// Whether both rows are of one scan: it has a row for each place.
  package func isSameScan(as other: ScanRow) -> Bool {
    // They are written together. The time of a row that was overwritten may be a millisecond later.
    job == other.job && sources == other.sources && abs(completedMs - other.completedMs) <= 1
  }
}

extension Sequence where Element == ScanRow {
  /// Files that a scan refused, at all of its places.
  package func refused(inScan scan: ScanRow) -> Int {
    reduce(0) { $0 + ($1.isSameScan(as: scan) ? $1.refused : 0) }
  }
}

/// Identifies a set of sources: scans with equal values are of the same set.
package struct ScannedSources: Sendable, Hashable, Codable {
  /// Files, folders and patterns, absolute; empty for a list.
  package var from: [String]
  package var list: String?
  /// `--exclude *.tmp`, in their order.
  package var rules: [String]

  package init(from: [String], list: String?, rules: [String]) {
    self.from = from
    self.list = list
    self.rules = rules
  }
}

extension SourceCounts {
  /// Files found by a scan, without excluded ones and those that are never sent.
  public var seen: Int { added + unchanged + queued + requeued + repeated + unknown + failed + notReady + known }
}
