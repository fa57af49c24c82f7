public import TransferModel

/// Files that an `add` found waiting or in work, recorded by an earlier one.
public struct QueuedFiles: Sendable, Hashable {
  /// The batches that hold them.
  public private(set) var batches: Set<BatchID> = []
  /// Their numbers, neighbours joined: what was admitted together mostly is queued together.
  private(set) var ranges: [ClosedRange<Int64>] = []

  public init() {}

  public mutating func insert(_ file: FileID, of batch: BatchID) {
    batches.insert(batch)
    append(file.rawValue...file.rawValue)
  }

  public mutating func append(_ other: QueuedFiles) {
    batches.formUnion(other.batches)
    for range in other.ranges { append(range) }
  }

  private mutating func append(_ range: ClosedRange<Int64>) {
    if let last = ranges.last, last.upperBound + 1 == range.lowerBound {
      ranges[ranges.count - 1] = last.lowerBound...range.upperBound
    } else {
      ranges.append(range)
    }
  }
}

/// The files that one `add` is about: those that it recorded and those that it found queued, with the newer generations of
/// both. It is the same whoever sends them, and whatever else is in their batches.
public struct AddedFiles: Sendable, Hashable {
  /// The ends of the tables before the `add`; of attempts what was open then is still to end.
  public struct Mark: Sendable, Hashable {
    var file, attempt: Int64
    /// Of an empty ledger.
    public static let beginning = Mark(file: 0, attempt: 0)
  }

  let mark: Mark
  let queued: QueuedFiles
  /// Its own batch, and those that hold what was queued.
  public let batches: [BatchID]

  public init(since mark: Mark, batch: BatchID?, queued: QueuedFiles) {
    self.mark = mark
    self.queued = queued
    batches = queued.batches.union(batch.map { [$0] } ?? []).sorted()
  }
}

/// Where the files of one `add` stand.
public struct AddedTotals: Sendable, Hashable {
  /// Without those that could not be read; bytes sent and retries since the `add`.
  public var files = FileTotals()
  /// Of the pending ones: those whose batch is past its deadline.
  public var overdue = 0
  /// Body bytes that answers since the `add` acknowledged.
  public var bytesAckedSince: Int64 = 0

  public init() {}
}

extension LedgerReader {
  public func addedMark() throws -> AddedFiles.Mark {
    try db.first(
      """
      SELECT (SELECT max(id) FROM file),
        coalesce((SELECT min(id) - 1 FROM attempt INDEXED BY attempt_open WHERE outcome = 'open'),
          (SELECT max(id) FROM attempt))
      """
    ) { AddedFiles.Mark(file: $0.int64(0), attempt: $0.int64(1)) } ?? .beginning
  }

  /// Reads each of the files once, and each attempt since the `add`.
  public func totals(of added: AddedFiles, nowMs: Int64) throws -> AddedTotals {
    var totals = AddedTotals()
    let batches = SQLValue.text(try jsonText(added.batches.map(\.rawValue)))
    let short = SQLValue.text(try jsonText(added.queued.short))
    try count(added.mark.file + 1, .max, batches, .null, nowMs, into: &totals)
    for range in added.queued.long {
      try count(range.lowerBound, range.upperBound, .null, .null, nowMs, into: &totals)
    }
    if let first = added.queued.short.min(), let last = added.queued.short.max() {
      try count(first, last, .null, short, nowMs, into: &totals)
    }
    let long = try jsonText(added.queued.long.map { [$0.lowerBound, $0.upperBound] })
    let sent = try db.first(
      Self.addedTraffic, .integer(added.mark.attempt), .integer(added.mark.file), batches, short, .text(long)
    ) { (sent: $0.int64(0), acked: $0.int64(1), retries: $0.int(2)) }
    guard let sent else { return totals }
    (totals.files.bytesSent, totals.files.retries, totals.bytesAckedSince) = (sent.sent, sent.retries, sent.acked)
    return totals
  }

  private func count(
    _ first: Int64, _ last: Int64, _ batches: SQLValue, _ list: SQLValue, _ nowMs: Int64, into totals: inout AddedTotals
  ) throws {
    let rows = try db.rows(Self.addedFiles, .integer(first), .integer(last), batches, list, .integer(nowMs)) { row in
      (
        state: row.text(0), count: row.int(1), bytes: row.int64(2), mismatched: row.int(3), overdue: row.int(4),
        acked: row.int64(5)
      )
    }
    for row in rows {
      totals.files.add(state: row.state, count: row.count, bytes: row.bytes, mismatched: row.mismatched, unverified: 0)
      totals.files.bytesAcked += row.acked
      totals.overdue += row.overdue
    }
  }

  // Without a size there was no source, and the `add` itself has told.
  static let addedFiles: StaticString = """
    SELECT state, count(*), sum(size), sum(state = 'failed' AND cause = 'integrity.mismatch'),
      sum(state = 'pending' AND EXISTS (SELECT 1 FROM batch b WHERE b.id = f.batch_id AND b.deadline_at <= ?5)),
      sum(CASE WHEN state = 'done' THEN size WHEN chunk_count IS NULL THEN 0
        ELSE (SELECT coalesce(sum(iif(state = 'done', length, acked)), 0) FROM chunk WHERE file_id = f.id) END)
    FROM file f
    WHERE id BETWEEN ?1 AND ?2 AND (?3 IS NULL OR +batch_id IN (SELECT value FROM json_each(?3)))
      AND (?4 IS NULL OR +id IN (SELECT value FROM json_each(?4)))
      AND size IS NOT NULL AND +state <> 'superseded' GROUP BY +state
    """
  static let addedTraffic: StaticString = """
    SELECT coalesce(sum(a.bytes_sent), 0), coalesce(sum(a.bytes_acked), 0), coalesce(sum(a.outcome = 'retry'), 0)
    FROM attempt a CROSS JOIN file f ON f.id = a.file_id
    WHERE a.id > ?1 AND (f.id > ?2 AND +f.batch_id IN (SELECT value FROM json_each(?3))
      OR +f.id IN (SELECT value FROM json_each(?4))
      OR EXISTS (SELECT 1 FROM json_each(?5) r WHERE f.id BETWEEN r.value ->> 0 AND r.value ->> 1))
    """
}

extension QueuedFiles {
  /// Ranges up to this length are looked up number by number.
  private static let shortRange = 1_000

  fileprivate var short: [Int64] { ranges.filter { $0.count <= Self.shortRange }.flatMap(Array.init) }
  fileprivate var long: [ClosedRange<Int64>] { ranges.filter { $0.count > Self.shortRange } }
}
