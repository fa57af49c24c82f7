/// Metadata of a ledger.
public struct StoreFacts: Sendable, Hashable {
  /// The 36-character UUID of this ledger.
  public var uid: String
  /// Number of the newest migration.
  public var schemaVersion: Int64
  /// Incremented when a column of a view is renamed or removed.
  public var viewVersion: Int64

  package init(uid: String, schemaVersion: Int64, viewVersion: Int64) {
    self.uid = uid
    self.schemaVersion = schemaVersion
    self.viewVersion = viewVersion
  }
}

/// The documentation of one column of a public view.
public struct ViewColumnRow: Sendable, Hashable {
  public var view: String
  public var column: String
  public var type: String
  /// Empty for figures without a unit.
  public var unit: String
  public var text: String

  package init(view: String, column: String, type: String, unit: String, text: String) {
    self.view = view
    self.column = column
    self.type = type
    self.unit = unit
    self.text = text
  }
}

/// Size and age of a ledger. Rows are counted in the smallest index of their table.
public struct StoreNumbers: Sendable, Hashable {
  /// Of the database file without its log, in bytes.
  public var bytes: Int64
  public var pageSize: Int64
  /// Pages that nothing uses; a snapshot is smaller by them.
  public var freePages: Int64
  public var journalMode: String
  public var createdBy: String
  /// Milliseconds since 1970 UTC, as all times here.
  public var createdMs: Int64
  public var batches: Int64
  public var files: Int64
  public var chunks: Int64
  public var attempts: Int64
  public var events: Int64
  public var runs: Int64
  /// The time of the newest record: start or end of an attempt, an event, a heartbeat.
  public var newestMs: Int64?

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
