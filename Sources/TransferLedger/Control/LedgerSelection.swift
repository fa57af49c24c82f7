import TransferModel

/// The files and batches that a filter selects, both for changing them and for previewing the change.
struct LedgerSelection {
  let db: Connection
  let filter: RowFilter

  /// The effect of the verb on the selected files. Memory: 8 bytes for each file that it changes.
  func outcome(of verb: ControlVerb) throws -> ControlOutcome {
    var outcome = ControlOutcome()
    _ = try db.rows(Self.files, filter) { row throws(SQLiteError) in
      outcome.add(
        ControlTarget(
          id: row.id(0), state: try row.named(1), requestedAction: try row.namedOrNil(2), isHidden: row.flag(3),
          hasCopy: row.flag(6), isToGo: row.flag(5), isGoing: row.flag(10), isOnlyCopy: row.flag(7),
          isRepeatable: row.flag(4), mayHaveArrived: row.flag(8), isResolved: row.flag(9)), verb,
        sparesUncertain: filter.sparesUncertain)
    }
    return outcome
  }

  static let files: StaticString = """
    SELECT f.id, f.state, f.requested_action, f.hidden,
      f.state IN ('failed', 'cancelled', 'unknown') AND (f.size IS NOT NULL OR f.is_download = 1)
      AND NOT EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key
        AND g.live = 1 AND g.id <> f.id)
      AND NOT EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key
        AND g.live IS NULL AND g.generation > f.generation)
      AND NOT (f.is_download IS NOT NULL AND EXISTS (SELECT 1 FROM file g WHERE g.path = f.path AND g.live = 1
        AND g.is_download = 1 AND g.id <> f.id))
      AND NOT (f.folded IS NOT NULL AND EXISTS (SELECT 1 FROM file g WHERE g.folded = f.folded AND g.folded IS NOT NULL
        AND g.live = 1 AND g.id <> f.id))
      AND NOT (f.staged IS NULL AND EXISTS (SELECT 1 FROM segment s WHERE s.file_id = f.id)),
      f.state = 'done' AND EXISTS (SELECT 1 FROM removal m WHERE m.file_id = f.id AND m.state = 'pending'),
      f.staged IS NOT NULL AND f.state IN ('failed', 'cancelled'),
      f.state = 'done' AND f.hidden = 1
        AND EXISTS (SELECT 1 FROM removal m WHERE m.file_id = f.id AND m.only_copy = 1 AND m.state <> 'pending'),
      f.state = 'cancelled' AND f.may_have_arrived = 1
        AND NOT EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key AND g.live = 1)
        AND NOT EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key
          AND g.live IS NULL AND g.generation > f.generation),
      f.state = 'cancelled' AND f.cause = 'policy.resolved',
      f.state = 'done' AND EXISTS (SELECT 1 FROM removal m WHERE m.file_id = f.id AND m.state = 'pending' AND m.begun = 1)
    FROM file f
    WHERE {files}
    ORDER BY f.id
    """

  /// Batches that the filter names, or that have a file which it selects.
  func batches() throws -> [ChangeableSettings] {
    try db.rows(
      """
      SELECT b.id, b.priority, b.rate, b.workers, b.deadline_at, b.labels, b.after IS NOT NULL FROM batch b
      WHERE {batches}
      ORDER BY b.id
      """, filter, row: Self.standing)
  }

  /// Selects one batch.
  static let batch: StaticString =
    "SELECT id, priority, rate, workers, deadline_at, labels, after IS NOT NULL FROM batch WHERE id = ?"

  static func standing(_ row: SQLRow) -> ChangeableSettings {
    ChangeableSettings(
      id: row.id(0), priority: row.int64(1), rate: row.int64OrNil(2), workers: row.int64OrNil(3),
      deadlineMs: row.int64OrNil(4), labels: LedgerReader.labels(row.text(5)), removesSources: row.flag(6))
  }
}

extension LedgerReader {
  /// What the verb would do to the files that the filter selects: the same outcome that applying it returns.
  public func outcome(of verb: ControlVerb, _ filter: RowFilter) throws -> ControlOutcome {
    try LedgerSelection(db: db, filter: filter).outcome(of: verb)
  }

  /// The batches that the filter names, or that have a file which it selects.
  func batches(selectedBy filter: RowFilter) throws -> [BatchID] {
    try LedgerSelection(db: db, filter: filter).batches().map(\.id)
  }

  /// What ``Ledger/changeBatches(_:_:between:)`` would do.
  public func outcome(of change: BatchChange, _ filter: RowFilter) throws -> BatchOutcome {
    BatchOutcome(try LedgerSelection(db: db, filter: filter).batches(), change)
  }
}
