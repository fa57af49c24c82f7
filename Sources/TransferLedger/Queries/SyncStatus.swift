import TransferModel

/// What the ledger would report about a file if it were added now.
public enum SyncStatus: String, Sendable, Hashable, Codable {
  /// Never sent to this key, or failed or cancelled before it was; recorded as a new row.
  case new
  /// Failed before, with this identity and these settings: the same row is continued.
  case requeued
  /// Sent before with another identity.
  case changed
  /// Done with this identity.
  case unchanged
  /// Waiting, active or paused.
  case queued
  /// Another version is being sent, or another file with its key is paused.
  case busy
  /// Its outcome is unknown, or was when it was cancelled.
  case unknown
}

extension LedgerReader {
  /// Returns what ``LedgerTransaction/admit(_:to:)`` would find for `key` at a canonical place, and the row whose
  /// content has to be compared if that decides between unchanged and changed. Uses the index of live files.
  package func standing(
    place: String, path: NameBytes, key: NameBytes, identity: SourceIdentity, in batch: NewBatch, nowMs: Int64
  ) throws -> (standing: SyncStatus, moved: MovedFile?) {
    guard let placed = try db.destination(at: place) else { return (.new, nil) }
    let (home, key, path) = (SQLValue.integer(placed), SQLValue.name(key), SQLValue.name(path))
    if var live = try db.first(ExistingFile.liveQuery, home, key, path, row: ExistingFile.init) {
      if live.state == .done, !live.isLost { live.isLost = try isOverwritten(live.id) }
      let finding = live.finding(identity)
      guard case .moved(let known) = finding else { return (SyncStatus(finding), nil) }
      return (SyncStatus(finding), MovedFile(index: 0, file: live.id, identity: known))
    }
    guard let past = try db.first(ExistingFile.pastQuery, home, key, path, row: ExistingFile.init) else {
      return (.new, nil)
    }
    if past.mayHaveDelivered(identity) { return (past.isDecided ? .unchanged : .unknown, nil) }
    if batch.settings.dedupe == true, past.isDuplicate(as: identity), try isStillDelivered(past.id) {
      return (.unchanged, nil)
    }
    guard past.maySucceed(as: identity, isStaged: batch.settings.stage == true),
      try batch.fits(past.batch, db, nowMs: nowMs)
    else { return (.new, nil) }
    return (.requeued, nil)
  }
}

extension SyncStatus {
  /// A moved file counts as changed until its content has been compared.
  fileprivate init(_ finding: ExistingFile.Finding) {
    self =
      switch finding {
      case .unknown: .unknown
      case .unchanged: .unchanged
      case .queued, .settling, .changing: .queued
      case .busy: .busy
      case .moved, .outdated: .changed
      }
  }
}
