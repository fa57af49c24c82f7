public import TransferModel

/// Progress in marking the files of a batch whose deadline has passed.
public struct OverduePart: Sendable, Hashable {
  public let batch: BatchID
  /// Files up to this one have been checked.
  var after = FileID(rawValue: 0)
  /// Number of files marked so far.
  public internal(set) var marked = 0
  /// The event of the first files that were marked; later events are parts of it.
  var begun: [EventKey: Int64] = [:]
  /// No files are left to check.
  public internal(set) var isLast = false

  public init(_ batch: BatchID) { self.batch = batch }
}

extension LedgerTransaction {
  /// Records a batch. If the name exists already, nothing is written except that the batch becomes visible again.
  func createBatch(_ batch: NewBatch, uid: UID) throws -> BatchID {
    if let name = batch.name {
      let found = try db.first("SELECT id FROM batch WHERE name = ? AND origin_id IS NULL", .text(name)) {
        $0.id(0, BatchID.self)
      }
      if let found {
        try db.run("UPDATE batch SET hidden = NULL WHERE id = ? AND hidden = 1", .id(found))
        return found
      }
    }
    let id = try db.insert(
      """
      INSERT INTO batch (uid, name, direction, destination_id, protocol, destination, settings, labels, priority,
        created_at, job, after)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .uid(uid), .string(batch.name), .raw(batch.settings.direction),
      .integer(try destination(batch.canonicalPlace, batch.objects)),
      .text(batch.protocolName), .text(batch.destination), .text(try jsonText(batch.storedSettings)),
      .text(try jsonText(batch.labels)), .int(batch.priority), .int(wallMs), .string(batch.job),
      .raw(batch.settings.after?.action))
    try nameReceivers(batch.settings.callbacks ?? [], of: id)
    try recordEvent("added", batch: BatchID(rawValue: id), file: nil, detail: batch.destination)
    return BatchID(rawValue: id)
  }

  private func destination(_ place: String, _ objects: ObjectPlace?) throws -> Int64 {
    try db.destination(at: place)
      ?? db.insert(
        "INSERT INTO destination (place, site, before_key, behind_key) VALUES (?, ?, ?, ?)", .text(place),
        .string(objects?.site), .name(objects?.before), .name(objects?.behind))
  }

  /// Changes the rows of these batches. Their files follow with ``followBatch(_:)``.
  func changeBatches(_ ids: [BatchID], _ change: BatchChange) throws -> BatchOutcome {
    let batches = try ids.compactMap { id in try db.first(LedgerSelection.batch, .id(id), row: LedgerSelection.standing)
    }
    for batch in batches {
      let new = batch.applying(change)
      if new != batch { try replace(batch, by: new) }
    }
    return BatchOutcome(batches, change)
  }

  /// Gives these files the priority of their batch unless they have ended, and clears the cause `policy.deadline` if
  /// the deadline no longer applies.
  func followBatch(_ files: [FileID]) throws {
    try choose(files)
    try db.run(
      """
      UPDATE file SET priority = b.priority FROM batch b
      WHERE b.id = file.batch_id AND file.id IN (SELECT id FROM temp.chosen) AND file.priority <> b.priority
        AND file.state NOT IN ('done', 'failed', 'cancelled', 'superseded')
      """)
    try db.run(
      """
      UPDATE file SET cause = NULL FROM batch b
      WHERE b.id = file.batch_id AND file.id IN (SELECT id FROM temp.chosen) AND file.cause = 'policy.deadline'
        AND file.state IN ('pending', 'paused') AND (b.deadline_at IS NULL OR b.deadline_at > ?)
      """, .int(wallMs))
  }

  /// Sets the passed deadline as the cause of pending files of a batch. They stay pending: they resume when the
  /// deadline is changed or removed. Checks ``Ledger/filesAtOnce`` files of the batch and returns where the next part
  /// begins, so that transactions stay short. One event lists the files.
  public func markOverdue(_ part: OverduePart) throws -> OverduePart {
    var part = part
    let last =
      try db.first(
        "SELECT max(id) FROM (SELECT id FROM file WHERE batch_id = ? AND id > ? ORDER BY id LIMIT ?)", .id(part.batch),
        .id(part.after), .int(Ledger.filesAtOnce)
      ) { $0.int64OrNil(0) } ?? nil
    guard let last else {
      part.isLast = true
      return part
    }
    var late = EventRanges()
    _ = try db.rows(
      """
      SELECT id FROM file
      WHERE batch_id = ? AND id > ? AND id <= ? AND state = 'pending' AND cause IS NOT 'policy.deadline' ORDER BY id
      """, .id(part.batch), .id(part.after), .integer(last)
    ) { late.add($0.id(0), of: part.batch) }
    part.begun = try continuing(part.begun) { try record("overdue", late, "its deadline has passed") }.begun
    part.marked += try db.run(
      """
      UPDATE file SET cause = 'policy.deadline'
      WHERE batch_id = ? AND id > ? AND id <= ? AND state = 'pending' AND cause IS NOT 'policy.deadline'
      """, .id(part.batch), .id(part.after), .integer(last))
    part.after = FileID(rawValue: last)
    return part
  }

  private func replace(_ old: ChangeableSettings, by new: ChangeableSettings) throws {
    try db.run(
      "UPDATE batch SET priority = ?, rate = ?, workers = ?, deadline_at = ?, labels = ? WHERE id = ?",
      .int(new.priority), .int(new.rate), .int(new.workers), .int(new.deadlineMs), .text(try jsonText(new.labels)),
      .id(new.id))
    try recordEvent("set", batch: new.id, file: nil, detail: old.difference(to: new))
    guard old.removesSources, !new.removesSources else { return }
    try db.run("UPDATE batch SET after = NULL WHERE id = ? AND after IS NOT NULL", .id(new.id))
    try revokeRemovals(of: new.id, "its batch was changed to keep its sources")
  }

  /// The batches of these files.
  func batches(of files: [FileID]) throws -> [BatchID] {
    guard !files.isEmpty else { return [] }
    try choose(files)
    return try db.rows("SELECT DISTINCT f.batch_id FROM temp.chosen c CROSS JOIN file f ON f.id = c.id") { $0.id(0) }
  }

  /// Hides those of these batches that have no visible file. A batch without any files may still be filling: it is
  /// hidden only when it is an hour old. Files are hidden in the order of their IDs, so checking the newest file
  /// usually suffices to find a visible one; otherwise two indexes are counted.
  func hideEmptied(_ batches: [BatchID]) throws {
    for batch in batches {
      try db.run(
        """
        UPDATE batch SET hidden = 1 WHERE id = ?1 AND hidden IS NULL
          AND NOT EXISTS (SELECT 1 FROM (SELECT hidden FROM file WHERE batch_id = ?1 ORDER BY id DESC LIMIT 1)
            WHERE hidden IS NULL)
          AND (SELECT count(*) FROM file WHERE batch_id = ?1)
            = (SELECT count(*) FROM file WHERE batch_id = ?1 AND hidden IS NOT NULL)
          AND (created_at < ?2 OR EXISTS (SELECT 1 FROM file WHERE batch_id = ?1))
        """, .id(batch), .int(wallMs - 3_600_000))
    }
  }
}

extension LedgerReader {
  /// Files of these batches that ``LedgerTransaction/followBatch(_:)`` would change. Reads all files of the batches.
  func filesToFollow(_ batches: [BatchID], nowMs: Int64) throws -> [FileID] {
    try db.rows(
      """
      SELECT f.id FROM batch b CROSS JOIN file f ON f.batch_id = b.id
      WHERE b.id IN (SELECT value FROM json_each(?1))
        AND (f.priority <> b.priority AND f.state NOT IN ('done', 'failed', 'cancelled', 'superseded')
          OR f.cause = 'policy.deadline' AND f.state IN ('pending', 'paused')
            AND (b.deadline_at IS NULL OR b.deadline_at > ?2))
      ORDER BY f.id
      """, .text(try jsonText(batches.map(\.rawValue))), .integer(nowMs)
    ) { $0.id(0) }
  }
}
