import Testing
import TransferModel

@testable import TransferLedger

/// The control verbs by name, in one transaction.
extension LedgerTransaction {
  func pauseFiles(_ filter: RowFilter, now: Bool) throws -> ControlOutcome { try control(.pause(now: now), filter) }
  func resumeFiles(_ filter: RowFilter) throws -> ControlOutcome { try control(.resume, filter) }
  func cancelFiles(_ filter: RowFilter) throws -> ControlOutcome { try control(.cancel, filter) }
  func hideFiles(_ filter: RowFilter) throws -> ControlOutcome { try control(.remove, filter) }

  func retryFiles(_ filter: RowFilter, startsOver: Bool) throws -> ControlOutcome {
    try control(.retry(startsOver: startsOver), filter)
  }

  func giveUpAbandonedSessions(_ filter: RowFilter) throws -> Int {
    try giveUpAbandonedSessions(LedgerReader(db: db).abandonedSessions(filter, after: 0, limit: .max).map(\.id))
  }

  func hideFinished(_ filter: RowFilter, failed: Bool) throws -> ControlOutcome {
    try control(.clean(failed: failed), filter)
  }
}

extension LedgerFixture {
  /// Marks all parts of a batch; returns how many files were marked.
  func markOverdue(_ batch: BatchID) throws -> Int {
    var part = OverduePart(batch)
    while !part.isLast {
      let last = part
      part = try ledger.write { try $0.markOverdue(last) }
    }
    return part.marked
  }
}

/// Creates batches and admits files one at a time, without a page.
extension LedgerTransaction {
  func createBatch(_ batch: NewBatch) throws -> BatchID { try createBatch(batch, uid: .make(wallMs: wallMs)) }

  func admit(_ file: NewFile, to batch: BatchID) throws -> Admission {
    let found = try #require(
      try db.first(
        "SELECT d.place, b.protocol, b.destination FROM batch b JOIN destination d ON d.id = b.destination_id WHERE b.id = ?",
        .id(batch)
      ) { (place: $0.text(0), name: $0.text(1), destination: $0.text(2)) })
    let new = NewBatch(
      settings: BatchSettings(destination: found.destination), protocolName: found.name, destination: found.destination,
      place: found.place)
    // No row counts as recorded by this `add` itself.
    let target = AdmissionTarget(new, since: try LedgerReader(db: db).addedMark(), wallMs: wallMs)
    var admitter = try Admitter(self, target, batch: batch)
    let admission = try file.path.bytes.withUnsafeBytes { path in
      try file.key.bytes.withUnsafeBytes { try admitter.admit(path, $0, file.identity, file.mode) }
    }
    try admitter.finish()
    return admission
  }
}
