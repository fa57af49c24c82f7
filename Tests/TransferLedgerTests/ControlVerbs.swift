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

  func hideFinished(_ filter: RowFilter, failed: Bool) throws -> ControlOutcome {
    try control(.clean(failed: failed), filter)
  }
}
