import FoundationEssentials
import TransferModel

extension LedgerReader {
  /// The last complete scans, newest first, of one job or of all. The table is small: one row for each set of sources.
  package func scans(ofJob job: String? = nil, limit: Int = 1_000) throws -> [ScanRow] {
    let rows = try db.rows(Self.scans, .string(job), .int(limit)) { row in
      var counts = SourceCounts()
      (counts.added, counts.changed, counts.unchanged) = (row.int(6), row.int(7), row.int(8))
      (counts.queued, counts.settling, counts.notReady) = (row.int(9), row.int(10), row.int(11))
      (counts.excluded, counts.failed, counts.special) = (row.int(12), row.int(13), row.int(14))
      counts.known = row.int(15)
      // A file that was seen but is in none of the counts was named twice, or its outcome is unknown.
      counts.unknown = max(0, row.int(5) - counts.seen)
      var scan = ScanRow(
        job: row.text(0), place: row.text(1), sources: ScannedSources(from: [], list: nil, rules: []),
        tookMs: row.int64(4), counts: counts)
      (scan.completedMs, scan.refused) = (row.int64(3), row.int(16))
      return (scan: scan, sources: row.bytes(2))
    }
    return try rows.map { row in
      var scan = row.scan
      scan.sources = try JSONDecoder().decode(ScannedSources.self, from: Data(row.sources))
      return scan
    }
  }

  static let scans: StaticString = """
    SELECT job, place, sources, completed_at, took_ms, files, new, changed, unchanged, queued, settling, not_ready,
      excluded, unreadable, special, known, refused
    FROM scan WHERE ?1 IS NULL OR job = ?1 ORDER BY completed_at DESC, id DESC LIMIT ?2
    """
}

extension LedgerTransaction {
  /// Maximum number of source sets whose last scan is kept; the oldest are deleted first.
  static let scansAtMost = 1_000

  /// Records a complete scan. Overwrites the row of the last scan of the same sources, so that endless runs do not
  /// accumulate rows; its time then differs, at least by a millisecond.
  package func noteScan(_ scan: ScanRow) throws {
    let counts = scan.counts
    let sources = try jsonText(scan.sources)
    let values: [SQLValue] = [
      .text(scan.job), .text(scan.place), .text(sources), .int(wallMs), .int(max(0, scan.tookMs)),
      .int(counts.seen), .int(counts.added + counts.requeued - counts.changed), .int(counts.changed),
      .int(counts.unchanged), .int(counts.queued + counts.busy), .int(counts.settling), .int(counts.notReady),
      .int(counts.excluded), .int(counts.failed), .int(counts.special), .int(counts.known),
      .int(scan.refused),
    ]
    let changes = try db.run(Self.replaceScan, of: values)
    guard changes == 0 else { return }
    try db.run(Self.insertScan, of: values)
    try db.run(Self.forgetScans, .int(Self.scansAtMost))
  }

  static let replaceScan: StaticString = """
    UPDATE scan SET completed_at = ?4 + (completed_at = ?4), took_ms = ?5, files = ?6, new = ?7, changed = ?8, unchanged = ?9, queued = ?10,
      settling = ?11, not_ready = ?12, excluded = ?13, unreadable = ?14, special = ?15,
      known = ?16, refused = ?17
    WHERE job = ?1 AND place = ?2 AND sources = ?3
    """
  static let insertScan: StaticString = """
    INSERT INTO scan (job, place, sources, completed_at, took_ms, files, new, changed, unchanged, queued, settling,
      not_ready, excluded, unreadable, special, known, refused)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
    """
  static let forgetScans: StaticString = """
    DELETE FROM scan WHERE id IN (SELECT id FROM scan ORDER BY completed_at DESC, id DESC LIMIT -1 OFFSET ?)
    """
}
