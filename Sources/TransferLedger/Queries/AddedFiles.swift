import TransferModel

extension LedgerReader {
  package func addedMark() throws -> AddedFiles.Mark {
    try db.first(
      """
      SELECT (SELECT max(id) FROM file),
        coalesce((SELECT min(id) - 1 FROM attempt INDEXED BY attempt_open WHERE outcome = 'open'),
          (SELECT max(id) FROM attempt))
      """
    ) { AddedFiles.Mark(file: $0.int64(0), attempt: $0.int64(1)) } ?? .beginning
  }

  /// Reads each of the files once, with its attempts.
  package func totals(of added: AddedFiles, nowMs: Int64) throws -> AddedTotals {
    var totals = AddedTotals()
    var next: Set<Int64> = []
    let all = try withListed(added)
    try forEach(all) { ranges in
      let found = try db.rows(Self.successors, ranges) { $0.int64OrNil(0) }
      next.formUnion(found.compactMap(\.self))
      next.formUnion(try db.rows(Self.generationsBetween, ranges) { $0.int64(0) })
    }
    let successors = next.filter { id in !AddedFiles.holds(id, all) }.sorted().map { $0...$0 }
    try forEach(all + successors) { ranges in
      totals.duplicates += try db.first(Self.addedDuplicates, ranges) { $0.int(0) } ?? 0
      totals.gone += try db.first(Self.addedGone, ranges) { $0.int(0) } ?? 0
      totals.unchanged += try db.first(Self.addedUnchanged, ranges) { $0.int(0) } ?? 0
      try addFiles(ranges, nowMs, to: &totals)
      try addTraffic(ranges, since: added.mark, to: &totals)
    }
    return totals
  }

  /// Adds the files that listings among them named: in a listing's own batch the files with higher numbers, in other
  /// batches those noted in `listed_file`. A folder that another batch already lists adds the files of that listing.
  private func withListed(_ added: AddedFiles) throws -> [ClosedRange<Int64>] {
    var (all, followed, next) = (added.ranges, added.listings, added.listings)
    while !next.isEmpty {
      let new = try next.flatMap { try listed($0.key, behind: $0.value) } + next.values.map { $0...$0 }
      next = [:]
      try forEach(SelectedFiles.merged(new)) { ranges in
        let named = try db.rows(Self.listedElsewhere, ranges) { row in
          (file: row.int64(0), batch: row.id(1, BatchID.self), isFolder: row.name(2).isFolder)
        }
        all += named.map { $0.file...$0.file }
        for folder in named where folder.isFolder && folder.file < followed[folder.batch] ?? .max {
          (followed[folder.batch], next[folder.batch]) = (folder.file, folder.file)
        }
      }
      all += new
    }
    return SelectedFiles.merged(all)
  }

  /// The files of a batch whose numbers are higher than that of a listing, as ranges.
  private func listed(_ batch: BatchID, behind listing: Int64) throws -> [ClosedRange<Int64>] {
    try db.rows(Self.listedFiles, .id(batch), .integer(listing)) { $0.int64(0)...$0.int64(1) }
  }

  static let listedFiles: StaticString = """
    SELECT min(id), max(id) FROM (
      SELECT id, id - row_number() OVER (ORDER BY id) AS run FROM file WHERE batch_id = ? AND id > ?)
    GROUP BY run
    """

  static let listedElsewhere: StaticString = """
    SELECT n.file_id, f.batch_id, f.key FROM json_each(?) r CROSS JOIN listed_file n
      ON n.listing_id BETWEEN r.value ->> 0 AND r.value ->> 1 CROSS JOIN file f ON f.id = n.file_id
    """

  /// Ranges per statement.
  private static let rangesAtOnce = 1_000

  private func forEach(_ ranges: [ClosedRange<Int64>], _ body: (SQLValue) throws -> Void) throws {
    for start in stride(from: 0, to: ranges.count, by: Self.rangesAtOnce) {
      let some = ranges[start..<min(start + Self.rangesAtOnce, ranges.count)]
      try body(.text(try jsonText(some.map { [$0.lowerBound, $0.upperBound] })))
    }
  }

  private func addFiles(_ ranges: SQLValue, _ nowMs: Int64, to totals: inout AddedTotals) throws {
    let rows = try db.rows(Self.addedFiles, ranges, .integer(nowMs)) { row in
      (
        state: row.text(0), count: row.int(1), bytes: row.int64(2), mismatched: row.int(3), overdue: row.int(4),
        acked: row.int64(5), unsized: row.int(6)
      )
    }
    for row in rows {
      totals.files.add(
        state: row.state, count: row.count, bytes: row.bytes, mismatched: row.mismatched, unverified: 0,
        unsized: row.unsized)
      totals.files.bytesAcked += row.acked
      totals.overdue += row.overdue
    }
  }

  private func addTraffic(_ ranges: SQLValue, since mark: AddedFiles.Mark, to totals: inout AddedTotals) throws {
    let traffic = try db.first(Self.addedTraffic, ranges, .integer(mark.attempt)) {
      (sent: $0.int64(0), acked: $0.int64(1), retries: $0.int(2))
    }
    guard let traffic else { return }
    totals.files.bytesTransferred += traffic.sent
    totals.files.retries += traffic.retries
    totals.bytesAckedSince += traffic.acked
    let untold = try db.first(Self.addedUntold, ranges, .integer(mark.attempt)) { $0.int64(0) }
    totals.files.bytesUntold += untold ?? 0
    totals.files.bytesReused += try db.first(Self.addedReused, ranges) { $0.int64(0) } ?? 0
  }

  // An upload without a size had no source; the `add` itself has reported that.
  static let addedFiles: StaticString = """
    SELECT f.state, count(*), sum_bytes(f.size), sum(f.state = 'failed' AND f.cause = 'integrity.mismatch'),
      sum(f.state = 'pending' AND EXISTS (SELECT 1 FROM batch b WHERE b.id = f.batch_id AND b.deadline_at <= ?2)),
      sum_bytes(CASE WHEN f.state = 'done' THEN f.size WHEN f.chunk_count IS NULL THEN 0
        ELSE (SELECT coalesce(sum(iif(c.state = 'done', c.length, c.acked)), 0) FROM chunk c WHERE c.file_id = f.id) END),
      sum(f.size IS NULL)
    FROM json_each(?1) r CROSS JOIN file f ON f.id BETWEEN r.value ->> 0 AND r.value ->> 1
    WHERE (f.size IS NOT NULL OR f.is_download = 1) AND +f.state <> 'superseded' GROUP BY +f.state
    """
  static let successors: StaticString = """
    SELECT coalesce(
      (SELECT m.id FROM file m
        WHERE m.destination_id = q.destination_id AND m.key = q.key AND m.live = 1 AND m.generation > q.generation),
      (SELECT m.id FROM file m
        WHERE m.destination_id = q.destination_id AND m.key = q.key AND m.live IS NULL AND m.generation > q.generation
          AND m.state <> 'superseded' ORDER BY m.generation DESC LIMIT 1))
    FROM json_each(?1) r CROSS JOIN file q ON q.id BETWEEN r.value ->> 0 AND r.value ->> 1
    WHERE +q.state = 'superseded'
    """
  // They count only with what they sent.
  static let generationsBetween: StaticString = """
    SELECT m.id FROM json_each(?1) r CROSS JOIN file q ON q.id BETWEEN r.value ->> 0 AND r.value ->> 1
      CROSS JOIN file m ON m.destination_id = q.destination_id AND m.key = q.key AND m.live IS NULL
        AND m.generation > q.generation
    WHERE +q.state = 'superseded' AND +m.state = 'superseded'
    """
  static let addedDuplicates: StaticString = """
    SELECT count(*) FROM json_each(?1) r CROSS JOIN content c ON c.file_id BETWEEN r.value ->> 0 AND r.value ->> 1
      CROSS JOIN file f ON f.id = c.file_id
    WHERE c.same_as IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM file n
        WHERE n.destination_id = f.destination_id AND n.key = f.key AND n.live = 1 AND n.generation > f.generation)
      AND NOT EXISTS (SELECT 1 FROM file n
        WHERE n.destination_id = f.destination_id AND n.key = f.key AND n.live IS NULL AND n.generation > f.generation)
    """
  // A listing that begins again has another session.
  static let addedUnchanged: StaticString = """
    SELECT coalesce(sum(s.unchanged), 0) FROM json_each(?1) r CROSS JOIN session s INDEXED BY session_unchanged
      ON s.file_id BETWEEN r.value ->> 0 AND r.value ->> 1
    WHERE s.unchanged IS NOT NULL AND s.state IN ('open', 'completed')
    """
  static let addedGone: StaticString = """
    SELECT count(*) FROM json_each(?1) r CROSS JOIN file f ON f.id BETWEEN r.value ->> 0 AND r.value ->> 1
    WHERE +f.state = 'superseded' AND f.cause = 'source.missing'
    """
  // Bytes acknowledged for a generation that was superseded since then do not count; its sent bytes do.
  static let addedTraffic: StaticString = """
    SELECT coalesce(sum(a.bytes_transferred), 0), coalesce(sum(iif(f.state = 'superseded', 0, a.bytes_acked)), 0),
      coalesce(sum(a.outcome = 'retry' AND NOT (a.operation = 'abort' OR a.chunk_id IS NULL
        AND a.operation IN ('verify', 'probe') AND f.state = 'done' AND a.started_at > f.finished_at)), 0)
    FROM json_each(?1) r CROSS JOIN file f ON f.id BETWEEN r.value ->> 0 AND r.value ->> 1
      CROSS JOIN attempt a ON a.file_id = f.id
    WHERE a.id > ?2
    """
  static let addedReused: StaticString = """
    SELECT coalesce(sum(c.reused), 0)
    FROM json_each(?1) r CROSS JOIN chunk c INDEXED BY chunk_reused
      ON c.file_id BETWEEN r.value ->> 0 AND r.value ->> 1 CROSS JOIN file f ON f.id = c.file_id
    WHERE c.reused IS NOT NULL AND f.state <> 'superseded'
    """
  static let addedUntold: StaticString = """
    SELECT coalesce(sum(o.bytes_transferred_at_most - o.bytes_transferred), 0)
    FROM json_each(?1) r CROSS JOIN v_cut_off o ON o.file_id BETWEEN r.value ->> 0 AND r.value ->> 1
    WHERE o.attempt_id IN (SELECT id FROM attempt WHERE error_code = 'engine.crashed' AND id > ?2
      UNION ALL SELECT id FROM attempt WHERE outcome = 'open' AND id > ?2)
    """
}
