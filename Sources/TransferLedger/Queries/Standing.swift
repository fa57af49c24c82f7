public import TransferModel

/// What the ledger would say of a file if it were added now.
public enum Standing: String, Sendable, Hashable, Codable {
  /// Never sent to this key, or only failed and cancelled before.
  case new
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
    place: String, key: NameBytes, identity: SourceIdentity
  ) throws -> (standing: Standing, moved: MovedFile?) {
    let found = try db.first(
      """
      SELECT state, size, mtime_ns, coalesce(s.ctime_ns, f.ctime_ns), inode, coalesce(s.device, f.device),
        coalesce(s.boot, f.boot), f.id
      FROM file f LEFT JOIN sighting s ON s.file_id = f.id
      WHERE destination_id = (SELECT id FROM destination WHERE place = ?) AND key = ? AND live = 1
      """, .text(place), .name(key)
    ) { row throws(SQLiteError) in
      (state: try row.named(0, FileState.self), identity: row.identity(from: 1), id: row.id(7, FileID.self))
    }
    guard let found else { return (.new, nil) }
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
}
