public import TransferModel

/// A source of a done file that is to be deleted or moved.
public struct DueRemoval: Sendable, Hashable {
  public var file: FileID
  public var batch: BatchID
  public var path: NameBytes
  /// The identity at the last sighting.
  public var identity: SourceIdentity
  /// An attempt was begun and its end is unknown: its process crashed. An attempt whose end is known has changed
  /// nothing.
  public var isBegun: Bool
  public var confirmation: Confirmation
  /// A person, not the server, confirmed that the file is done.
  public var isByHand: Bool
  /// A later query did not find the object or found a different one, or another file replaced it.
  public var isLost: Bool
  /// Why another batch's move of the same source failed; only if this batch would delete the source.
  public var keptMove: ErrorCode?
  /// Why another destination of its job keeps the same source, or will keep it.
  public var keptElsewhere: ErrorCode?
  /// A destination that lacks this version of the source, of a job with several that removes this source; for people.
  public var lacking: String?
}

/// The result of removing one source.
public enum RemovalEnd: Sendable, Hashable {
  case done
  /// The source no longer existed. An attempt that crashed may have removed it, or somebody else.
  case gone(String)
  /// Nothing was changed, and nothing could be tried: the run was stopped, another file needs the source by now, or its
  /// file system is not available. It is tried again later, without a limit.
  case putOff(ErrorCode, String)
  /// The source is kept permanently.
  case kept(ErrorCode, String)
  /// To be tried again by a later run, ``LedgerTransaction/removalsAtMost`` times.
  case failed(ErrorCode, String)
}

extension DueRemoval {
  /// Neither the state of its object nor another batch prevents the removal.
  public var isWanted: Bool { !isLost && keptMove == nil && keptElsewhere == nil && lacking == nil }
}

extension LedgerReader {
  /// Removals that are due, of files after number `after`. No removal of a source is due while a file that is not done
  /// needs that source, in any batch; a failed file needs it until it is hidden. The same source means the same path,
  /// or the same inode by any path: another link or another mount. A failed file of the same job whose own path no
  /// longer exists does not count: the source was renamed, and was sent under its new name. If one batch deletes a
  /// source and another moves it, it is moved: its deletion is not due before that. If a job with several destinations
  /// removes the source, every removal of it is `lacking` until each of them has this version of the source, with a
  /// receipt: whose receipt it is does not matter. For the removals of others it must prove what the job asks for;
  /// those of the job itself are kept otherwise (`keptElsewhere`).
  public func dueRemovals(after: Int64, limit: Int) throws -> [DueRemoval] {
    try db.dueRemovals(.integer(after), through: .integer(.max), limit: limit)
  }

  /// Whether an engine could remove a source now, or has not yet determined why it cannot. A removal that was put off
  /// because a destination does not have the file does not count.
  /// - Parameter job: only sources of this job; then removals that were put off for another cause do not count either.
  public func hasDueRemoval(ofJob job: String? = nil) throws -> Bool {
    let found = try db.dueRemovals(0, through: .integer(.max), limit: 1, isForStart: true, ofJob: job)
    return !found.isEmpty
  }

  /// Whether a removal that was begun is still due: it has not been revoked since, and no other file needs the source.
  public func isRemovalDue(_ file: FileID) throws -> Bool { try db.dueRemoval(file)?.isWanted ?? false }

  /// Waiting removals and kept sources of the files that the filter selects, with the reasons. Counts only the sources
  /// that were kept since `keptSinceMs`. Removals that a person revoked or tidied away are not counted, nor sources
  /// that were replaced by newer content or that somebody else removed. Reads the removals that are not done.
  public func removals(_ filter: RowFilter, keptSinceMs: Int64 = .min) throws -> RemovalTotals {
    let rows = try db.rows(Self.removalsByReason, filter, .integer(keptSinceMs)) { row in
      (
        isKept: row.flag(0), isPutOff: row.flag(1), code: row.textOrNil(2), message: row.textOrNil(3),
        sources: row.int(4)
      )
    }
    var totals = RemovalTotals()
    for row in rows {
      if row.isKept { totals.kept += row.sources } else { totals.waiting += row.sources }
      if row.isPutOff { totals.putOff += row.sources }
      guard let code = row.code else { continue }
      totals.reasons.append(
        RemovalTotals.Reason(isKept: row.isKept, code: code, message: row.message ?? "", sources: row.sources))
    }
    totals.reasons.sort { ($1.sources, $0.code) < ($0.sources, $1.code) }
    return totals
  }

  static let removalsByReason: StaticString = """
    SELECT 0, m.put_off_at IS NOT NULL, m.cause, max(m.message), count(*)
    FROM removal m CROSS JOIN file f ON f.id = m.file_id
    WHERE m.state = 'pending' AND {files} GROUP BY 2, 3
    UNION ALL SELECT 1, 0, m.cause, max(m.message), count(*)
    FROM removal m CROSS JOIN file f ON f.id = m.file_id
    WHERE (m.state = 'skipped' OR m.state = 'failed') AND m.cause <> 'policy.cancelled'
      AND NOT (m.state = 'skipped' AND m.cause = 'source.missing') AND m.ended_at >= ?1
      AND f.hidden IS NULL AND f.live = 1 AND {files} GROUP BY m.cause
    """

  static let dueRemovals: StaticString = """
    SELECT m.file_id, f.batch_id, f.path, f.size, f.mtime_ns, coalesce(s.ctime_ns, f.ctime_ns), f.inode,
      coalesce(s.device, f.device), coalesce(s.boot, f.boot), m.attempts > 0 AND m.cause IS NULL, r.confirmation,
      r.note IS NOT NULL, f.live IS NULL OR EXISTS (SELECT 1 FROM receipt l WHERE l.file_id = f.id AND l.finding IN ('lost', 'differs')),
      (SELECT w.cause FROM removal w CROSS JOIN file o ON o.id = w.file_id CROSS JOIN batch v ON v.id = o.batch_id
        WHERE b.after = 'delete' AND w.inode = m.inode AND w.state <> 'done' AND (w.state = 'skipped' OR w.state = 'failed')
          AND w.cause <> 'policy.cancelled' AND v.after = 'move' AND o.path = f.path AND o.size = f.size
          AND o.mtime_ns = f.mtime_ns LIMIT 1),
      (SELECT iif(w.state = 'pending', 'policy.proof', w.cause)
        FROM job_destination j CROSS JOIN removal w CROSS JOIN file o ON o.id = w.file_id
          CROSS JOIN batch v ON v.id = o.batch_id CROSS JOIN destination d ON d.id = v.destination_id
          CROSS JOIN receipt q ON q.file_id = o.id AND q.n = 1
        WHERE j.job = b.job AND w.inode = m.inode AND w.state <> 'done' AND w.file_id <> m.file_id
          AND d.place = j.place AND substr(o.key, 1, length(j.prefix)) = j.prefix
          AND substr(o.path, 1 + length(o.path) - length(o.key) + length(j.prefix)) = substr(o.key, 1 + length(j.prefix))
          AND o.path = f.path AND o.size = f.size AND o.mtime_ns = f.mtime_ns AND o.live = 1
          AND (w.state <> 'pending' OR q.note IS NOT NULL
            OR EXISTS (SELECT 1 FROM receipt l WHERE l.file_id = o.id AND l.finding IN ('lost', 'differs'))
            OR CASE v.settings ->> '$.after.proof' WHEN 'any' THEN 0
              WHEN 'digest' THEN q.confirmation NOT IN ('digest', 'etag') ELSE q.confirmation = 'none' END
            OR CASE b.settings ->> '$.after.proof' WHEN 'any' THEN 0
              WHEN 'digest' THEN q.confirmation NOT IN ('digest', 'etag') ELSE q.confirmation = 'none' END) LIMIT 1),
      (SELECT j.destination FROM removal t CROSS JOIN file g ON g.id = t.file_id CROSS JOIN batch u ON u.id = g.batch_id
          CROSS JOIN job_destination j ON j.job = u.job LEFT JOIN sighting y ON y.file_id = g.id
        WHERE t.inode = m.inode AND t.state <> 'done' AND t.cause IS NOT 'policy.cancelled' AND g.path = f.path
          AND g.size = f.size AND g.mtime_ns = f.mtime_ns AND NOT EXISTS (
            SELECT 1 FROM removal w CROSS JOIN file o ON o.id = w.file_id
              CROSS JOIN destination d ON d.id = o.destination_id LEFT JOIN sighting z ON z.file_id = o.id
            WHERE w.inode = m.inode AND w.state <> 'done' AND d.place = j.place
              AND substr(o.key, 1, length(j.prefix)) = j.prefix
              AND substr(o.path, 1 + length(o.path) - length(o.key) + length(j.prefix))
                = substr(o.key, 1 + length(j.prefix))
              AND o.path = f.path AND o.size = f.size AND o.mtime_ns = f.mtime_ns
              AND (length(o.key) = length(j.prefix) OR substr(o.key, 1 + length(j.prefix), 1) = x'2F'
                OR substr(o.path, length(o.path) - length(o.key) + length(j.prefix), 1) = x'2F')
              AND coalesce(z.ctime_ns, o.ctime_ns) = coalesce(y.ctime_ns, g.ctime_ns) AND o.live = 1
              AND (u.job IS b.job OR EXISTS (SELECT 1 FROM receipt q WHERE q.file_id = o.id AND q.n = 1
                  AND q.note IS NULL AND CASE u.settings ->> '$.after.proof' WHEN 'any' THEN 1
                    WHEN 'digest' THEN q.confirmation IN ('digest', 'etag') ELSE q.confirmation <> 'none' END)
                AND NOT EXISTS (SELECT 1 FROM receipt l WHERE l.file_id = o.id AND l.finding IN ('lost', 'differs'))))
        LIMIT 1) AS lacking
    FROM removal m CROSS JOIN file f ON f.id = m.file_id CROSS JOIN batch b ON b.id = f.batch_id CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1
      LEFT JOIN sighting s ON s.file_id = f.id
    WHERE m.state = 'pending' AND m.file_id > ?1 AND m.file_id <= ?2
      AND NOT EXISTS (SELECT 1 FROM file o WHERE o.path = f.path AND o.finished_at IS NULL AND o.is_download IS NULL)
      AND NOT EXISTS (SELECT 1 FROM file o
        WHERE o.path = f.path AND o.state = 'failed' AND o.is_download IS NULL AND o.hidden IS NULL)
      AND NOT EXISTS (SELECT 1 FROM file o
        WHERE o.inode = f.inode AND o.is_download IS NULL AND (o.finished_at IS NULL OR o.state = 'failed')
          AND o.hidden IS NULL AND (o.size = f.size AND o.mtime_ns = f.mtime_ns
            OR o.finished_at IS NULL AND (o.device = f.device OR o.device = s.device))
          AND NOT (o.cause IS 'source.missing' AND o.path <> f.path
            AND EXISTS (SELECT 1 FROM batch v WHERE v.id = o.batch_id AND v.job = b.job)))
      AND NOT (b.after IS 'delete' AND EXISTS (SELECT 1 FROM removal w CROSS JOIN file o ON o.id = w.file_id
          CROSS JOIN batch v ON v.id = o.batch_id
        WHERE w.inode = m.inode AND w.state <> 'done' AND w.state = 'pending' AND v.after = 'move' AND o.size = f.size
          AND o.mtime_ns = f.mtime_ns))
      AND (?5 IS NULL OR b.job = ?5)
      AND (?4 = 0 OR m.put_off_at IS NULL
        OR (?5 IS NULL OR coalesce(m.cause, 'policy.limit') = 'policy.limit') AND lacking IS NULL)
    ORDER BY m.file_id LIMIT ?3
    """
}

/// What another batch will do with sources of a batch.
public struct OtherFate: Sendable, Hashable {
  public var batch: BatchID
  public var removal: SourceRemoval
  public var sources: Int
}

extension LedgerReader {
  /// Other batches that will delete or move sources of this batch in a different way. Reads the files of the batch if
  /// the batch removes its sources itself.
  public func otherFates(of batch: BatchID) throws -> [OtherFate] {
    guard let own = try batchSettings(batch)?.after else { return [] }
    return try db.rows(Self.otherRemovers, .id(batch)) { ($0.id(0, BatchID.self), $0.int(1)) }.compactMap {
      other, sources in
      guard let removal = try batchSettings(other)?.after,
        removal.action != own.action || removal.folder != own.folder || removal.base != own.base && own.action == .move
      else { return nil }
      return OtherFate(batch: other, removal: removal, sources: sources)
    }
  }

  static let otherRemovers: StaticString = """
    SELECT other, count(*) FROM (
      SELECT f.id, o.batch_id AS other FROM file f CROSS JOIN file o ON o.path = f.path
      WHERE f.batch_id = ?1 AND o.finished_at IS NULL AND o.is_download IS NULL AND o.batch_id <> ?1
      UNION SELECT f.id, o.batch_id FROM file f CROSS JOIN removal w ON w.inode = f.inode
        AND w.state <> 'done' AND w.state = 'pending' CROSS JOIN file o ON o.id = w.file_id AND o.path = f.path
      WHERE f.batch_id = ?1 AND o.batch_id <> ?1)
    WHERE EXISTS (SELECT 1 FROM batch v WHERE v.id = other AND v.after IS NOT NULL) GROUP BY other ORDER BY other
    """
}

extension Connection {
  fileprivate func dueRemovals(
    _ after: SQLValue, through last: SQLValue, limit: Int, isForStart: Bool = false, ofJob job: String? = nil
  ) throws -> [DueRemoval] {
    try rows(
      LedgerReader.dueRemovals, after, last, .int(limit), .flag(isForStart), .string(job)
    ) { row throws(SQLiteError) in
      DueRemoval(
        file: row.id(0), batch: row.id(1), path: row.name(2), identity: row.identity(from: 3), isBegun: row.flag(9),
        confirmation: try row.named(10), isByHand: row.flag(11), isLost: row.flag(12),
        keptMove: try row.namedOrNil(13), keptElsewhere: try row.namedOrNil(14),
        lacking: row.textOrNil(15))
    }
  }

  fileprivate func dueRemoval(_ file: FileID) throws -> DueRemoval? {
    try dueRemovals(.integer(file.rawValue - 1), through: .id(file), limit: 1).first
  }
}

extension LedgerTransaction {
  /// How often a removal may fail, over all runs, before its source is kept. A postponed removal has not failed.
  public static let removalsAtMost = 10

  /// Stays pending, and counts an attempt before anything is changed, so that a later run knows that this one may have
  /// removed the source. Returns those that are still due now.
  public func beginRemovals(_ files: [FileID]) throws -> Set<FileID> {
    var begun: Set<FileID> = []
    for file in files {
      guard let due = try db.dueRemoval(file), due.isWanted else { continue }
      let changes = try db.run(
        "UPDATE removal SET attempts = attempts + 1, cause = NULL WHERE file_id = ?1 AND state = 'pending'", .id(file))
      if changes == 1 { begun.insert(file) }
    }
    return begun
  }

  /// pending → done, skipped, failed; or it stays pending with its cause. The removals and the folders they changed
  /// must be synced before. `verb` names a completed removal in the history. A removal that was revoked while its
  /// source was being removed is done: the state of the disk counts.
  /// - Parameter uncertain: files with an earlier attempt that crashed. It may have removed the source, so an attempt
  ///   without effect leaves them marked as begun.
  public func endRemovals(
    _ ends: [(file: FileID, end: RemovalEnd)], verb: String, uncertain: Set<FileID> = []
  ) throws {
    var (done, gone, kept): ([FileID], [String: [FileID]], [String: [FileID]]) = ([], [:], [:])
    for (file, end) in ends {
      switch end {
      case .done:
        guard try close(file, .done, nil, nil) else { continue }
        done.append(file)
        let others = try closeOthers(of: file)
        if !others.isEmpty { gone["it was removed with the source of \(file)", default: []] += others }
      case .gone(let message):
        guard try close(file, .done, nil, message) else { continue }
        gone[message, default: []].append(file)
        let others = try closeOthers(of: file)
        if !others.isEmpty { gone["it was removed with the source of \(file)", default: []] += others }
      case .putOff(let code, let message):
        try putOff(file, code, message, isUncertain: uncertain.contains(file))
      case .kept(let code, let message):
        guard try close(file, .skipped, code, message) else { continue }
        if code == .sourceMissing {
          gone[message, default: []] += [file] + (try missOthers(of: file, message))
        } else {
          kept[message, default: []].append(file)
        }
      case .failed(let code, let message):
        if try tryAgain(file, code, message, isUncertain: uncertain.contains(file)) {
          kept[message, default: []].append(file)
        }
      }
    }
    if !done.isEmpty { try recordEvent(verb, of: done) }
    for (message, files) in gone.sorted(by: { $0.key < $1.key }) {
      try recordEvent("source-gone", of: files, detail: message)
    }
    for (message, files) in kept.sorted(by: { $0.key < $1.key }) {
      try recordEvent("source-kept", of: files, detail: message)
    }
  }

  private func close(_ file: FileID, _ state: RemovalState, _ code: ErrorCode?, _ message: String?) throws -> Bool {
    try db.run(
      """
      UPDATE removal SET state = ?2, cause = ?3, message = ?4, ended_at = ?5, put_off_at = NULL WHERE file_id = ?1
        AND (state = 'pending' OR ?2 = 'done' AND state = 'skipped' AND cause = 'policy.cancelled')
      """, .id(file), .raw(state), .raw(code), .string(message), .int(wallMs)) == 1
  }

  /// pending → done, for the removals by other batches of the source of `file`, which is gone from its path.
  private func closeOthers(of file: FileID) throws -> [FileID] {
    let others = try db.rows(Self.othersOfSource, .id(file)) { $0.id(0, FileID.self) }
    return try others.filter { other in
      try db.run(
        "UPDATE removal SET attempts = attempts + 1, cause = NULL WHERE file_id = ? AND state = 'pending'", .id(other))
      return try close(other, .done, nil, "it was removed with the source of \(file)")
    }
  }

  /// pending → skipped: the removals of the source of `file` for other batches, because the source does not exist.
  /// Excludes those with an interrupted attempt, which may have removed the source: they are decided separately.
  private func missOthers(of file: FileID, _ message: String) throws -> [FileID] {
    let others = try db.rows(Self.othersOfSource, .id(file)) { (file: $0.id(0, FileID.self), isBegun: $0.flag(1)) }
    return try others.filter { try !$0.isBegun && close($0.file, .skipped, .sourceMissing, message) }.map(\.file)
  }

  static let othersOfSource: StaticString = """
    SELECT w.file_id, w.attempts > 0 AND w.cause IS NULL FROM file f CROSS JOIN removal w ON w.inode = f.inode AND w.state <> 'done' AND w.state = 'pending'
      CROSS JOIN file o ON o.id = w.file_id
    WHERE f.id = ?1 AND o.id <> f.id AND o.path = f.path AND o.size = f.size AND o.mtime_ns = f.mtime_ns
    ORDER BY w.file_id
    """

  /// Stays pending: the attempt has changed nothing. If an earlier attempt crashed (`isUncertain`), the removal stays
  /// marked as begun.
  private func putOff(_ file: FileID, _ code: ErrorCode, _ message: String, isUncertain: Bool) throws {
    try db.run(
      """
      UPDATE removal SET cause = ?2, message = ?3,
        put_off_at = iif(put_off_at IS NOT NULL AND message IS ?3, put_off_at, ?4)
      WHERE file_id = ?1 AND state = 'pending'
      """, .id(file), .raw(isUncertain ? nil : code), .text(message), .int(wallMs))
  }

  /// Counts a failure. Returns whether the removal has failed permanently, or for another reason than the last time.
  private func tryAgain(
    _ file: FileID, _ code: ErrorCode, _ message: String, isUncertain: Bool
  ) throws -> Bool {
    let known = try db.first(
      """
      UPDATE removal SET failures = failures + 1, put_off_at = NULL WHERE file_id = ?1 AND state = 'pending'
      RETURNING failures, message IS ?2
      """, .id(file), .text(message)
    ) { (failures: $0.int(0), isTold: $0.flag(1)) }
    guard let known else { return false }
    if known.failures >= Self.removalsAtMost { return try close(file, .failed, code, message) }
    try db.run(
      "UPDATE removal SET cause = ?2, message = ?3 WHERE file_id = ?1 AND state = 'pending'", .id(file),
      .raw(isUncertain ? nil : code), .text(message))
    return !known.isTold
  }

  // MARK: - Revoking removals

  /// pending → skipped, for the removals of the chosen files. `why` is the reason in the history.
  func revokeRemovalsOfChosen(_ why: String) throws {
    let files = try db.rows(
      """
      SELECT c.id FROM temp.chosen c CROSS JOIN removal m ON m.file_id = c.id WHERE m.state = 'pending' ORDER BY c.id
      """
    ) { $0.id(0, FileID.self) }
    try revokeRemovals(files, why)
  }

  /// pending → skipped, for the removals of all files of a batch.
  func revokeRemovals(of batch: BatchID, _ why: String) throws {
    let files = try db.rows(
      """
      SELECT m.file_id FROM removal m CROSS JOIN file f ON f.id = m.file_id
      WHERE m.state = 'pending' AND f.batch_id = ? ORDER BY m.file_id
      """, .id(batch)
    ) { $0.id(0, FileID.self) }
    try revokeRemovals(files, why)
  }

  private func revokeRemovals(_ files: [FileID], _ why: String) throws {
    var kept: [FileID] = []
    for file in files where try close(file, .skipped, .policyCancelled, why) { kept.append(file) }
    if !kept.isEmpty { try recordEvent("source-kept", of: kept, detail: why) }
  }
}
