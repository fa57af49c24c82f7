import TransferModel

/// Control verbs. Each verb changes immediately the files that no engine has, records a request to the engine for the
/// rest, and writes events; all of this is durable when the write returns.
extension LedgerTransaction {
  /// Applies the verb to everything that the filter selects, in this one transaction; ``Ledger/control(_:_:between:)``
  /// does so in parts.
  public func control(_ verb: ControlVerb, _ filter: RowFilter) throws -> ControlOutcome {
    let selection = LedgerSelection(db: db, filter: filter)
    let (outcome, batches) = try (selection.outcome(of: verb), verb.hides ? selection.batches() : [])
    try perform(verb, outcome)
    try hideEmptied(batches.map(\.id))
    return outcome
  }

  /// The same for a filter that names individual files and no batches. Its events become parts of those that earlier
  /// parts began.
  func controlPart(
    _ verb: ControlVerb, _ filter: RowFilter, _ begun: [EventKey: Int64]
  ) throws -> (ControlOutcome, begun: [EventKey: Int64]) {
    try continuing(begun) { try controlPart(verb, filter) }
  }

  private func controlPart(_ verb: ControlVerb, _ filter: RowFilter) throws -> ControlOutcome {
    let outcome = try LedgerSelection(db: db, filter: filter).outcome(of: verb)
    try perform(verb, outcome)
    if verb.hides { try hideEmptied(batches(of: outcome.changed)) }
    return outcome
  }

  private func perform(_ verb: ControlVerb, _ outcome: ControlOutcome) throws {
    try choose(outcome.changed)
    switch verb {
    case .pause: try pauseChosen()
    case .resume: try resumeChosen()
    case .cancel: try cancelChosen()
    case .retry(let startsOver):
      try retryChosen(startsOver: startsOver)
      // A person wants them to be sent, even those that the original of this copy may have sent. Downloads do each
      // other no harm, as long as each ledger has its own partial files.
      try db.run(
        """
        UPDATE doubt SET is_decided = 1 WHERE is_decided IS NULL
          AND file_id IN (SELECT c.id FROM temp.chosen c CROSS JOIN file f ON f.id = c.id WHERE f.is_download IS NULL)
        """)
    case .resolve(let resolution, let reason): try resolveChosen(resolution, reason: reason)
    case .remove: try removeChosen()
    case .clean: try cleanChosen()
    }
    guard let requestedAction = verb.requestedAction, !outcome.asked.isEmpty else { return }
    try choose(outcome.asked)
    try askChosen(requestedAction)
  }
}

extension LedgerReader {
  /// The batches that are hidden with their files if the verb hides all of these.
  func batchesToHide(_ verb: ControlVerb, _ filter: RowFilter) throws -> [BatchID] {
    verb.hides ? try batches(selectedBy: filter) : []
  }
}

extension ControlVerb {
  var hides: Bool {
    switch self {
    case .remove, .clean: true
    case .pause, .resume, .cancel, .retry, .resolve: false
    }
  }

  /// The request to the engine.
  var requestedAction: RequestedAction? {
    switch self {
    case .pause(let now): now ? .pauseNow : .pause
    case .cancel: .cancel
    case .remove: .remove
    case .resume, .retry, .resolve, .clean: nil
    }
  }
}
