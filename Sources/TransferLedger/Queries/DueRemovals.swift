public import TransferModel

/// A source of a done file that is to be deleted or moved.
public struct DueRemoval: Sendable, Hashable {
  public var file: FileID
  public var batch: BatchID
  public var path: NameBytes
  /// The identity at the last sighting.
  package var identity: SourceIdentity
  /// An attempt was begun and its end is unknown: its process crashed. An attempt whose end is known has changed
  /// nothing.
  public var isBegun: Bool
  package var confirmation: Confirmation
  /// A person, not the server, confirmed that the file is done.
  public var isByHand: Bool
  /// A later query did not find the object or found a different one, or another file replaced it or may have.
  public var isLost: Bool
  /// Why another batch's move of the same source failed; only if this batch would delete the source.
  public var keptMove: ErrorCode?
  /// Why another destination of its job keeps the same source, or will keep it.
  public var keptElsewhere: ErrorCode?
  /// A destination that lacks this version of the source, of a job with several that is to remove it; for people.
  public var lacking: String?
  /// The ledger is a copy, and its original may still need the source, or somebody may have told it to keep that.
  package var isOfOriginal = false
  /// How much of the path may lead through symbolic links (``NewFile/root``).
  package var root: Int?
}

extension DueRemoval {
  /// Neither the state of its object nor another batch or ledger prevents the removal.
  public var isWanted: Bool { !isLost && keptMove == nil && keptElsewhere == nil && lacking == nil && !isOfOriginal }
}

extension LedgerReader {
  /// Removals that are due, of files after number `after`. No removal of a source is due while a file that is not done
  /// needs that source, in any batch; a failed file needs it until it is hidden. The same source means the same path,
  /// or the same inode by any path: another link or another mount. A failed file of the same job whose own path no
  /// longer exists does not count: the source was renamed, and was sent under its new name. If one batch deletes a
  /// source and another moves it, it is moved: its deletion is not due before that.
  ///
  /// A job with several destinations that is to remove its sources holds each removal of a source that it has recorded,
  /// by whichever batch and path, until each destination of its list has this version of it with a receipt: such a
  /// removal is `lacking`. Whose receipt it is does not matter. For the removals of others it must prove what the job
  /// asks for; those of the job itself are kept otherwise (`keptElsewhere`).
  public func dueRemovals(after: Int64, limit: Int) throws -> [DueRemoval] {
    try db.dueRemovals(.integer(after), through: .integer(.max), limit: limit)
  }

  /// Whether a removal that was begun is still due: it has not been revoked since, and no other file needs the source.
  public func isRemovalDue(_ file: FileID) throws -> Bool { try db.dueRemoval(file)?.isWanted ?? false }

  static let dueRemovals: StaticString = """
    SELECT m.file_id, f.batch_id, f.path, f.size, f.mtime_ns, coalesce(s.ctime_ns, f.ctime_ns), f.inode,
      coalesce(s.device, f.device), coalesce(s.boot, f.boot), m.begun IS NOT NULL, r.confirmation, r.note IS NOT NULL,
      -- The object of the file was replaced, or a later query did not find it.
      f.live IS NULL OR EXISTS (SELECT 1 FROM receipt l WHERE l.file_id = f.id AND l.finding IN ('lost', 'differs')),
      -- keptMove: another batch was to move the source and keeps it.
      (SELECT w.cause FROM removal w CROSS JOIN file o ON o.id = w.file_id CROSS JOIN batch v ON v.id = o.batch_id
        WHERE b.after = 'delete' AND w.inode = m.inode AND w.state <> 'done'
          AND (w.state = 'skipped' OR w.state = 'failed') AND w.cause <> 'policy.cancelled' AND v.after = 'move'
          AND o.path = f.path AND o.size = f.size AND o.mtime_ns = f.mtime_ns LIMIT 1),
      -- keptElsewhere: another destination of the same job keeps this version of the source, or has a receipt that does
      -- not suffice.
      (SELECT iif(w.state = 'pending', 'policy.proof', w.cause)
        FROM job_destination j CROSS JOIN removal w CROSS JOIN file o ON o.id = w.file_id
          CROSS JOIN batch v ON v.id = o.batch_id CROSS JOIN destination d ON d.id = v.destination_id
          CROSS JOIN receipt q ON q.file_id = o.id AND q.n = 1 LEFT JOIN sighting z ON z.file_id = o.id
        WHERE j.job = b.job AND w.inode = m.inode AND w.state <> 'done' AND w.file_id <> m.file_id
          AND d.place = j.place AND substr(o.key, 1, length(j.prefix)) = j.prefix
          AND substr(o.path, 1 + length(o.path) - length(o.key) + length(j.prefix))
            = substr(o.key, 1 + length(j.prefix))
          AND o.path = f.path AND o.size = f.size AND o.mtime_ns = f.mtime_ns AND o.live = 1
          AND coalesce(z.ctime_ns, o.ctime_ns) = coalesce(s.ctime_ns, f.ctime_ns)
          AND (w.state <> 'pending' OR q.note IS NOT NULL
            OR EXISTS (SELECT 1 FROM receipt l WHERE l.file_id = o.id AND l.finding IN ('lost', 'differs'))
            OR CASE v.settings ->> '$.after.proof' WHEN 'any' THEN 0
              WHEN 'digest' THEN q.confirmation NOT IN ('digest', 'etag') ELSE q.confirmation = 'none' END
            OR CASE b.settings ->> '$.after.proof' WHEN 'any' THEN 0
              WHEN 'digest' THEN q.confirmation NOT IN ('digest', 'etag') ELSE q.confirmation = 'none' END) LIMIT 1),
      -- lacking: a job that is to remove the source has a file of it (g), and a destination of the list of that job (j)
      -- lacks the source. A file counts that is done and whose removal nobody revoked, or that was given up.
      (SELECT j.destination || ' (job ' || j.job || ')'
        FROM (
          SELECT t.file_id AS id FROM removal t WHERE t.inode = m.inode AND t.state <> 'done'
            AND t.cause IS NOT 'policy.cancelled' AND t.cause IS NOT 'source.missing'
          UNION ALL SELECT t.id FROM file t WHERE t.inode = m.inode AND t.is_download IS NULL AND t.state <> 'done'
            AND (t.state = 'failed' OR t.state = 'cancelled' OR t.state = 'superseded' AND t.cause IS NOT NULL)
            AND t.cause IS NOT 'source.missing'
            AND NOT EXISTS (SELECT 1 FROM absent_source a WHERE a.file_id = t.id)) c
          CROSS JOIN file g ON g.id = c.id CROSS JOIN batch u ON u.id = g.batch_id
          CROSS JOIN job_destination j ON j.job = u.job
        WHERE u.after IS NOT NULL AND g.size = f.size AND g.mtime_ns = f.mtime_ns
          AND (g.path = f.path OR u.job IS NOT b.job) AND NOT EXISTS (
            -- The destination has the source: a done file (o) of the version that is to be removed, with the same
            -- inode, and with a key of the destination that is the end of the path of g. Within one job, another path
            -- is another source.
            SELECT 1 FROM removal w CROSS JOIN file o ON o.id = w.file_id
              CROSS JOIN destination d ON d.id = o.destination_id LEFT JOIN sighting z ON z.file_id = o.id
            WHERE w.inode = m.inode AND w.state <> 'done' AND o.live = 1 AND d.place = j.place
              AND o.size = f.size AND o.mtime_ns = f.mtime_ns
              AND (o.path = g.path OR (SELECT v.job FROM batch v WHERE v.id = o.batch_id) IS NOT u.job)
              AND coalesce(z.ctime_ns, o.ctime_ns) = coalesce(s.ctime_ns, f.ctime_ns)
              AND substr(o.key, 1, length(j.prefix)) = j.prefix
              AND substr(g.path, 1 + length(g.path) - length(o.key) + length(j.prefix))
                = substr(o.key, 1 + length(j.prefix))
              AND (length(o.key) = length(j.prefix) OR substr(o.key, 1 + length(j.prefix), 1) = x'2F'
                OR substr(g.path, length(g.path) - length(o.key) + length(j.prefix), 1) = x'2F')
              -- Its receipt suffices. For a removal of the same job and path, keptElsewhere has decided this.
              AND (u.job IS b.job AND o.path = f.path OR EXISTS (SELECT 1 FROM receipt q WHERE q.file_id = o.id AND q.n = 1
                  AND q.note IS NULL AND CASE u.settings ->> '$.after.proof' WHEN 'any' THEN 1
                    WHEN 'digest' THEN q.confirmation IN ('digest', 'etag') ELSE q.confirmation <> 'none' END)
                AND NOT EXISTS (SELECT 1 FROM receipt l WHERE l.file_id = o.id AND l.finding IN ('lost', 'differs')))
              -- No newer file of the job for this destination was given up, and no file of this path if o has another.
              AND NOT EXISTS (SELECT 1 FROM file x CROSS JOIN batch v ON v.id = x.batch_id
                WHERE x.inode = m.inode AND x.is_download IS NULL AND x.state <> 'done' AND (x.id > o.id OR o.path <> g.path)
                  AND (x.state = 'failed' OR x.state = 'cancelled' OR x.cause = 'policy.duplicate')
                  AND x.destination_id = o.destination_id AND v.job = u.job AND x.path = g.path
                  AND x.size = f.size AND x.mtime_ns = f.mtime_ns
                  AND substr(x.key, 1, length(j.prefix)) = j.prefix))
        LIMIT 1) AS lacking,
      -- Its object has other names.
      EXISTS (SELECT 1 FROM destination d CROSS JOIN destination e ON e.site = d.site AND e.id <> d.id
        WHERE d.id = f.destination_id),
      -- isOfOriginal: this ledger is a copy.
      EXISTS (SELECT 1 FROM doubt q WHERE q.file_id = f.id), f.root
    FROM removal m CROSS JOIN file f ON f.id = m.file_id CROSS JOIN batch b ON b.id = f.batch_id
      CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1 LEFT JOIN sighting s ON s.file_id = f.id
    WHERE m.state = 'pending' AND m.file_id > ?1 AND m.file_id <= ?2
      -- No file that is not done needs the source: none with its path, and none with its inode under another path.
      AND NOT EXISTS (SELECT 1 FROM file o WHERE o.path = f.path AND o.finished_at IS NULL AND o.is_download IS NULL)
      AND NOT EXISTS (SELECT 1 FROM file o
        WHERE o.path = f.path AND o.state = 'failed' AND o.is_download IS NULL AND o.hidden IS NULL)
      AND NOT EXISTS (SELECT 1 FROM file o
        WHERE o.inode = f.inode AND o.is_download IS NULL AND o.state <> 'done'
          AND (o.finished_at IS NULL OR o.state = 'failed') AND o.hidden IS NULL
          AND (o.size = f.size AND o.mtime_ns = f.mtime_ns
            OR o.finished_at IS NULL AND (o.device = f.device OR o.device = s.device))
          AND NOT (o.cause IS 'source.missing' AND o.path <> f.path
            AND EXISTS (SELECT 1 FROM batch v WHERE v.id = o.batch_id AND v.job = b.job)))
      -- No other batch has yet to move it.
      AND NOT (b.after IS 'delete' AND EXISTS (SELECT 1 FROM removal w CROSS JOIN file o ON o.id = w.file_id
          CROSS JOIN batch v ON v.id = o.batch_id
        WHERE w.inode = m.inode AND w.state <> 'done' AND w.state = 'pending' AND v.after = 'move' AND o.size = f.size
          AND o.mtime_ns = f.mtime_ns))
      -- No other file is being stored at its object, or may have been, by another name of the destination.
      AND NOT EXISTS (SELECT 1
        FROM destination d CROSS JOIN destination e ON e.site = d.site AND e.id <> d.id AND e.origin_id IS NULL
          CROSS JOIN file o ON o.destination_id = e.id AND o.live = 1
            AND o.key = substr(CAST(d.before_key || f.key || d.behind_key AS BLOB), 1 + length(e.before_key),
              length(d.before_key) + length(f.key) + length(d.behind_key) - length(e.before_key) - length(e.behind_key))
        WHERE d.id = f.destination_id AND (o.state = 'active' OR o.state = 'finishing' OR o.state = 'unknown')
          AND CAST(d.before_key || f.key || d.behind_key AS BLOB) = CAST(e.before_key || o.key || e.behind_key AS BLOB))
    ORDER BY m.file_id LIMIT ?3
    """
}

extension Connection {
  fileprivate func dueRemovals(_ after: SQLValue, through last: SQLValue, limit: Int) throws -> [DueRemoval] {
    let found = try rows(LedgerReader.dueRemovals, after, last, .int(limit)) { row throws(SQLiteError) in
      var due = DueRemoval(
        file: row.id(0), batch: row.id(1), path: row.name(2), identity: row.identity(from: 3), isBegun: row.flag(9),
        confirmation: try row.named(10), isByHand: row.flag(11), isLost: row.flag(12),
        keptMove: try row.namedOrNil(13), keptElsewhere: try row.namedOrNil(14),
        lacking: row.textOrNil(15))
      (due.isOfOriginal, due.root) = (row.flag(17), row.intOrNil(18))
      return (due, hasRivals: row.flag(16))
    }
    return try found.map { due, hasRivals in
      var due = due
      if hasRivals, !due.isLost { due.isLost = try LedgerReader(db: self).isOverwritten(due.file) }
      return due
    }
  }

  func dueRemoval(_ file: FileID) throws -> DueRemoval? {
    try dueRemovals(.integer(file.rawValue - 1), through: .id(file), limit: 1).first
  }
}
