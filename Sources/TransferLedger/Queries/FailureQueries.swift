public import TransferModel

/// One kind of failure with all that it hit.
public struct FailureRow: Sendable, Hashable {
  public var code: String
  public var blame: String
  /// What can be done about it.
  public var hint: String
  /// Files that ended for this reason.
  public var files: Int64
  /// Attempts that failed like this, whatever became of their files.
  public var attempts: Int64
  public var firstMs: Int64?
  public var lastMs: Int64?
  /// A file that ended for this reason, or else one that only met it.
  public var examplePath: NameBytes?
  public var exampleMessage: String?

  public init(
    code: String, blame: String, hint: String, files: Int64, attempts: Int64, firstMs: Int64?, lastMs: Int64?,
    examplePath: NameBytes?, exampleMessage: String?
  ) {
    self.code = code
    self.blame = blame
    self.hint = hint
    self.files = files
    self.attempts = attempts
    self.firstMs = firstMs
    self.lastMs = lastMs
    self.examplePath = examplePath
    self.exampleMessage = exampleMessage
  }
}

extension LedgerReader {
  /// What went wrong with the files that the filter selects, by error code: most files first, then most attempts.
  public func failures(_ filter: RowFilter) throws -> [FailureRow] {
    if filter.isEverything { return try allFailures() }
    return try db.rows(
      """
      WITH ended AS (
        SELECT f.cause code, count(*) files, max(f.id) example, min(f.finished_at) first, max(f.finished_at) last
        FROM file f WHERE f.state IN ('failed', 'unknown')
          AND f.state <> 'done' AND f.state <> 'active' AND f.state <> 'pending' AND f.state <> 'finishing'
          AND {files}
          AND (?1 IS NULL OR f.finished_at >= ?1 OR f.state = 'unknown')
        GROUP BY f.cause),
      met AS (
        SELECT a.error_code code, count(*) attempts, max(a.id) example, min(a.started_at) first,
          max(coalesce(a.ended_at, a.started_at)) last
        FROM attempt a CROSS JOIN file f ON f.id = a.file_id WHERE a.error_code IS NOT NULL
          AND {attempts}
          AND (?1 IS NULL OR f.finished_at >= ?1 OR f.state = 'unknown')
        GROUP BY a.error_code)
      SELECT e.code, e.blame, e.hint, coalesce(ended.files, 0), coalesce(met.attempts, 0),
        coalesce(min(ended.first, met.first), ended.first, met.first),
        coalesce(max(ended.last, met.last), ended.last, met.last),
        coalesce(one.path, (SELECT f.path FROM attempt a JOIN file f ON f.id = a.file_id WHERE a.id = met.example)),
        coalesce(one.message, (SELECT a.message FROM attempt a WHERE a.id = met.example))
      FROM error_code e
        LEFT JOIN ended ON ended.code = e.code
        LEFT JOIN met ON met.code = e.code
        LEFT JOIN file one ON one.id = ended.example
      WHERE ended.code IS NOT NULL OR met.code IS NOT NULL
      ORDER BY 4 DESC, 5 DESC, 1
      """, filter, .int(filter.finishedSinceMs), row: Self.failure)
  }

  static func failure(_ row: SQLRow) -> FailureRow {
    FailureRow(
      code: row.text(0), blame: row.text(1), hint: row.text(2), files: row.int64(3), attempts: row.int64(4),
      firstMs: row.int64OrNil(5), lastMs: row.int64OrNil(6), examplePath: row.bytesOrNil(7).map { NameBytes($0) },
      exampleMessage: row.textOrNil(8))
  }
}
