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
  /// Answers for `key` at a canonical place what ``LedgerTransaction/admit(_:to:)`` would find. Served by the index of live
  /// files.
  public func standing(place: String, key: NameBytes, identity: SourceIdentity) throws -> Standing {
    let found = try db.first(
      """
      SELECT state, size, mtime_ns, ctime_ns, inode, device FROM file
      WHERE destination_id = (SELECT id FROM destination WHERE place = ?) AND key = ? AND live = 1
      """, .text(place), .name(key)
    ) { row throws(SQLiteError) in
      (state: try row.named(0, FileState.self), identity: row.identity(from: 1))
    }
    guard let found else { return .new }
    let isSame = found.identity == identity
    switch found.state {
    case .unknown:
      return found.identity.size == identity.size && found.identity.mtimeNs == identity.mtimeNs ? .unknown : .changed
    case .done: return isSame ? .unchanged : .changed
    case .pending, .settling: return isSame ? .queued : .changed
    case .active, .finishing, .paused: return .queued
    case .failed, .cancelled, .superseded: return .new
    }
  }
}
