import TransferModel

/// The live row of a key, or its newest row that is not live.
struct ExistingFile {
  var id: FileID
  var batch: BatchID
  var generation: Int
  var state: FileState
  /// nil if its source could not be examined.
  var identity: SourceIdentity?
  var isSamePath: Bool
  var isStaged: Bool
  /// It is settling: its source may still be written.
  var hasLook: Bool
  /// It was not sent, because another file had delivered the same content.
  var isDuplicate: Bool
  /// It was cancelled when its outcome was unknown.
  var mayHaveArrived: Bool
  /// A person has seen that and decided that it stays as it is: hidden, or resolved as cancelled.
  var isDecided: Bool
  /// How much of its path may lead through symbolic links (``NewFile/root``).
  var root: Int?
  /// It is done, and the newest query to the destination did not find its object, or another one.
  var isLost: Bool

  /// It may be the same version: any difference can only be seen in the content.
  func mayBe(_ other: SourceIdentity) -> Bool { identity.map { $0.relation(to: other) != .other } ?? false }

  /// Whether it may be the content that was sent: only size and mtime are compared. Content that may have arrived is
  /// not sent again just because its file was moved, copied back or mounted elsewhere.
  func hasContent(like other: SourceIdentity) -> Bool {
    identity?.size == other.size && identity?.mtimeNs == other.mtimeNs
  }

  /// The identity is exactly the same: while a source settles, no difference is tolerated.
  func isSeen(as now: SourceIdentity) -> Bool { identity == now }

  /// - Parameter row: of ``liveQuery`` or ``pastQuery``.
  init(_ row: SQLRow) throws(SQLiteError) {
    (id, batch, generation) = (row.id(0), row.id(1), row.int(2))
    state = try row.named(3)
    identity = row.int64OrNil(4) == nil ? nil : row.identity(from: 4)
    (isSamePath, isStaged, hasLook, isDuplicate) = (row.flag(10), row.flag(11), row.flag(12), row.flag(13))
    (mayHaveArrived, isDecided, root, isLost) = (row.flag(14), row.flag(15), row.intOrNil(16), row.flag(17))
  }

  // MARK: - Findings of an admission

  /// What a live row means for a source that is added with its key.
  enum Finding: Hashable {
    /// Its outcome is unknown, and this may be what was sent.
    case unknown
    case unchanged
    /// Done with this identity except for its ctime or device: the content decides.
    case moved(SourceIdentity)
    /// Waiting, active or paused.
    case queued
    /// Its source may still be written, and has not changed.
    case settling
    /// Its source is still being written.
    case changing
    /// Another version is active, or another file with its key is paused.
    case busy
    /// A new generation replaces it: another version, or the object is lost.
    case outdated
  }

  func finding(_ now: SourceIdentity) -> Finding {
    switch state {
    case .unknown: return hasContent(like: now) ? .unknown : .outdated
    case .done:
      guard let identity, mayBe(now), !isLost else { return .outdated }
      return identity.relation(to: now) == .same ? .unchanged : .moved(identity)
    // A newer version of its source follows it when it resumes; another file does not.
    case .paused: return isSamePath || mayBe(now) ? .queued : .busy
    case .settling where hasLook && isSamePath: return isSeen(as: now) ? .settling : .changing
    // If only ctime or device differ, a file that was begun compares the content when it resumes.
    case .pending, .settling: return mayBe(now) ? .queued : .outdated
    case .active, .finishing: return mayBe(now) ? .queued : .busy
    case .failed, .cancelled, .superseded: return .outdated
    }
  }

  /// For a row that is not live: it failed, and can be retried if its batch fits (``NewBatch/fits(_:_:nowMs:)``).
  func maySucceed(as now: SourceIdentity, isStaged: Bool) -> Bool {
    state == .failed && isSamePath && mayBe(now) && self.isStaged == isStaged
  }

  /// For a row that is not live: its request may have delivered this content, and a person cancelled it. Only a person
  /// repeats that request (`retry`).
  func mayHaveDelivered(_ now: SourceIdentity) -> Bool {
    state == .cancelled && mayHaveArrived && hasContent(like: now)
  }

  /// For a row that is not live: it was not sent because it was a duplicate, and its source has not changed since.
  func isDuplicate(as now: SourceIdentity) -> Bool {
    isDuplicate && isSamePath && identity?.relation(to: now) == .same
  }

  // MARK: - Statements

  static let liveQuery: StaticString = """
    SELECT id, batch_id, generation, state, size, mtime_ns, coalesce(s.ctime_ns, file.ctime_ns), inode,
      coalesce(s.device, file.device), coalesce(s.boot, file.boot), path = ?3, staged IS NOT NULL,
      state = 'settling' AND cause IS 'source.settling', state = 'superseded' AND cause IS 'policy.duplicate',
      may_have_arrived IS NOT NULL, hidden IS NOT NULL OR cause IS 'policy.resolved', root,
      state = 'done' AND EXISTS (SELECT 1 FROM receipt r INDEXED BY receipt_contradiction
        WHERE r.file_id = file.id AND r.finding IN ('lost', 'differs', 'changed', 'missing')
          AND NOT EXISTS (SELECT 1 FROM receipt l WHERE l.file_id = r.file_id AND l.n > r.n AND l.finding = 'found'))
    FROM file LEFT JOIN sighting s ON s.file_id = file.id WHERE destination_id = ?1 AND key = ?2 AND live = 1
    """
  static let pastQuery: StaticString = """
    SELECT id, batch_id, generation, state, size, mtime_ns, coalesce(s.ctime_ns, file.ctime_ns), inode,
      coalesce(s.device, file.device), coalesce(s.boot, file.boot), path = ?3, staged IS NOT NULL,
      state = 'settling' AND cause IS 'source.settling', state = 'superseded' AND cause IS 'policy.duplicate',
      may_have_arrived IS NOT NULL, hidden IS NOT NULL OR cause IS 'policy.resolved', root, 0
    FROM file LEFT JOIN sighting s ON s.file_id = file.id
    WHERE destination_id = ?1 AND key = ?2 AND live IS NULL ORDER BY generation DESC LIMIT 1
    """
}

extension Connection {
  /// The number of the destination with this place in this ledger's own rows; nil if there is none. Destinations of
  /// merged ledgers are distinct.
  func destination(at place: String) throws(SQLiteError) -> Int64? {
    try first("SELECT id FROM destination WHERE place = ? AND origin_id IS NULL", .text(place)) { $0.int64(0) }
  }
}

extension CallbackSetting {
  fileprivate func isReceiver(of other: CallbackSetting) -> Bool {
    (event, kind, target) == (other.event, other.kind, other.target)
  }
}

extension NewBatch {
  /// Whether files of the batch `id` would be recorded in the same way if they were added now: in a batch with the same
  /// name and settings.
  func fits(_ id: BatchID, _ db: Connection, nowMs: Int64) throws -> Bool {
    let found = try db.first(Self.batchQuery, .id(id), .int(nowMs)) { row in
      row.textOrNil(0) == name && row.text(1) == protocolName && row.text(2) == destination
        && row.int(5) == priority && !row.flag(6) && row.textOrNil(7) == job
        ? (settings: row.text(3), labels: row.text(4)) : nil
    }
    guard let batch = found ?? nil else { return false }
    return try isAsked(as: batch.settings, id, db) && batch.labels == jsonText(labels)
  }

  /// Whether the batch `id` with these stored settings was requested with the same settings and callback receivers.
  func isAsked(as stored: String, _ id: BatchID, _ db: Connection) throws -> Bool {
    guard try stored == jsonText(storedSettings) else { return false }
    let receivers = try db.rows(Self.receiversQuery, .id(id)) { row throws(SQLiteError) in
      CallbackSetting(try row.named(0), try row.named(1), row.text(2), secret: row.text(3))
    }
    // A receiver that was given with two keys has one row.
    let asked = settings.callbacks ?? []
    return receivers.allSatisfy(asked.contains)
      && asked.allSatisfy { one in receivers.contains { $0.isReceiver(of: one) } }
  }

  /// The settings as stored in its row: callbacks have separate rows, and a snapshot for auditors omits their URLs. The
  /// results of rules are recorded with each file.
  var storedSettings: BatchSettings {
    var stored = settings
    stored.callbacks = nil
    stored.rules = nil
    return stored
  }

  private static let receiversQuery: StaticString = """
    SELECT event, kind, target, secret FROM callback WHERE batch_id = ?
    """

  private static let batchQuery: StaticString = """
    SELECT name, protocol, destination, settings, labels, priority, deadline_at IS NOT NULL AND deadline_at <= ?2, job
    FROM batch WHERE id = ?1
    """
}
