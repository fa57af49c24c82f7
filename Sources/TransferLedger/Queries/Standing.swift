public import TransferModel

/// What the ledger would say of a file if it were added now.
public enum Standing: String, Sendable, Hashable, Codable {
  /// Never sent to this key, or failed and cancelled before, and recorded anew.
  case new
  /// Failed before, with this identity and these settings: the same row goes on.
  case requeued
  /// Sent before with another identity.
  case changed
  /// Done with this identity.
  case unchanged
  /// Waiting, in work or paused.
  case queued
  /// Its outcome is unknown.
  case unknown
}

extension LedgerReader {
  /// Answers for `key` at a canonical place what ``LedgerTransaction/admit(_:to:)`` would find; the row whose content has to be
  /// compared where that decides between unchanged and changed. Served by the index of live files.
  public func standing(
    place: String, path: NameBytes, key: NameBytes, identity: SourceIdentity, in batch: NewBatch, nowMs: Int64
  ) throws -> (standing: Standing, moved: MovedFile?) {
    let found = try db.first(
      """
      SELECT state, size, mtime_ns, coalesce(s.ctime_ns, f.ctime_ns), inode, coalesce(s.device, f.device),
        coalesce(s.boot, f.boot), f.id
      FROM file f LEFT JOIN sighting s ON s.file_id = f.id
      WHERE destination_id = (SELECT id FROM destination WHERE place = ? AND origin_id IS NULL) AND key = ? AND live = 1
      """, .text(place), .name(key)
    ) { row throws(SQLiteError) in
      (state: try row.named(0, FileState.self), identity: row.identity(from: 1), id: row.id(7, FileID.self))
    }
    guard let found else { return (try goesOn(place, path, key, identity, batch, nowMs) ? .requeued : .new, nil) }
    if found.state == .done, found.identity.relation(to: identity) == .moved {
      return (.changed, MovedFile(index: 0, file: found.id, identity: found.identity))
    }
    return (standing(found.state, found.identity, identity), nil)
  }

  private func standing(_ state: FileState, _ known: SourceIdentity, _ identity: SourceIdentity) -> Standing {
    let isSame = known.relation(to: identity) != .other
    switch state {
    case .unknown:
      return known.size == identity.size && known.mtimeNs == identity.mtimeNs ? .unknown : .changed
    case .done: return isSame ? .unchanged : .changed
    case .pending, .settling: return isSame ? .queued : .changed
    case .active, .finishing, .paused: return .queued
    case .failed, .cancelled, .superseded: return .new
    }
  }

  /// Whether the newest row of a key that nothing stands for has failed, and would be recorded the same way now.
  private func goesOn(
    _ place: String, _ path: NameBytes, _ key: NameBytes, _ identity: SourceIdentity, _ batch: NewBatch, _ nowMs: Int64
  ) throws -> Bool {
    let past = try db.first(
      """
      SELECT f.state, f.path = ?3, f.size IS NOT NULL, f.staged IS NOT NULL, f.size, f.mtime_ns, f.ctime_ns, f.inode,
        f.device, f.boot, b.name, b.protocol, b.destination, b.settings, b.labels, b.priority,
        b.deadline_at IS NOT NULL AND b.deadline_at <= ?4
      FROM file f JOIN batch b ON b.id = f.batch_id
      WHERE f.destination_id = (SELECT id FROM destination WHERE place = ?1 AND origin_id IS NULL) AND f.key = ?2 AND f.live IS NULL
      ORDER BY f.generation DESC LIMIT 1
      """, .text(place), .name(key), .name(path), .integer(nowMs)
    ) { row throws(SQLiteError) in
      guard try row.named(0, FileState.self) == .failed, row.flag(1), row.flag(2),
        row.identity(from: 4).relation(to: identity) != .other,
        row.flag(3) == (batch.settings.stage == true), row.textOrNil(10) == batch.name,
        row.text(11) == batch.protocolName,
        row.text(12) == batch.destination, row.int(15) == batch.priority, !row.flag(16)
      else { return (settings: String, labels: String)?.none }
      return (row.text(13), row.text(14))
    }
    guard let past = past ?? nil else { return false }
    return try past.settings == jsonText(batch.settings) && past.labels == jsonText(batch.labels)
  }
}
