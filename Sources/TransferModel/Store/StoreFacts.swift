/// Metadata of a ledger.
package struct StoreFacts: Sendable, Hashable {
  /// The 36-character UUID of this ledger.
  package var uid: String
  /// Number of the newest migration.
  package var schemaVersion: Int64
  /// Incremented when a column of a view is renamed or removed.
  package var viewVersion: Int64

  package init(uid: String, schemaVersion: Int64, viewVersion: Int64) {
    self.uid = uid
    self.schemaVersion = schemaVersion
    self.viewVersion = viewVersion
  }
}

/// The documentation of one column of a public view.
package struct ViewColumnRow: Sendable, Hashable {
  package var view: String
  package var column: String
  package var type: String
  /// Empty for figures without a unit.
  package var unit: String
  package var text: String

  package init(view: String, column: String, type: String, unit: String, text: String) {
    self.view = view
    self.column = column
    self.type = type
    self.unit = unit
    self.text = text
  }
}

/// Size and age of a ledger. Rows are counted in the smallest index of their table.
package struct StoreNumbers: Sendable, Hashable {
  /// Of the database file without its log, in bytes.
  package var bytes: Int64
  package var pageSize: Int64
  /// Pages that nothing uses; a snapshot is smaller by them.
  package var freePages: Int64
  package var journalMode: String
  package var createdBy: String
  /// Milliseconds since 1970 UTC, as all times here.
  package var createdMs: Int64
  package var batches: Int64
  package var files: Int64
  package var chunks: Int64
  package var attempts: Int64
  package var events: Int64
  package var runs: Int64
  /// The time of the newest record: start or end of an attempt, an event, a heartbeat.
  package var newestMs: Int64?

  package init(
    bytes: Int64, pageSize: Int64, freePages: Int64, journalMode: String, createdBy: String, createdMs: Int64,
    batches: Int64, files: Int64, chunks: Int64, attempts: Int64, events: Int64, runs: Int64, newestMs: Int64?
  ) {
    self.bytes = bytes
    self.pageSize = pageSize
    self.freePages = freePages
    self.journalMode = journalMode
    self.createdBy = createdBy
    self.createdMs = createdMs
    self.batches = batches
    self.files = files
    self.chunks = chunks
    self.attempts = attempts
    self.events = events
    self.runs = runs
    self.newestMs = newestMs
  }
}
