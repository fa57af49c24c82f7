import TransferModel

/// The position of a file in the order of work.
struct WorkOrder: Comparable {
  var priority: Int64
  var file: FileID

  static func < (a: Self, b: Self) -> Bool {
    a.priority == b.priority ? a.file < b.file : a.priority > b.priority
  }
}

/// A ready file of a batch.
private struct ReadyHead {
  var order: WorkOrder
  var batch: BatchID
}

/// Ready files of all batches except some. The cost grows with the batches that have ready files, not with the files,
/// except for those of the sizes that are left out: they are passed over in an index that contains the size, by the
/// first claim of a batch and when no others are left behind them.
extension Connection {
  /// The first `limit` ready files, in the order of work.
  /// - Parameters:
  ///   - leftOut: files of these sizes are not found, unless their only body is stored.
  ///   - passed: the last files that were claimed of batches with such sizes. Files behind them are found first.
  func readyFiles(
    without: Set<BatchID>, leftOut: [BatchID: ClosedRange<Int64>], passed: [BatchID: FileID] = [:], limit: Int
  ) throws(SQLiteError) -> [FileID] {
    var heads: [ReadyHead] = []
    try visitReadyBatches(without: without) { heads.append(ReadyHead(order: $1, batch: $0)) }
    return try readyFiles(behind: heads, leftOut: leftOut, passed: passed, limit: limit).map(\.order.file)
  }

  /// The same of these batches only, with the batch of each file.
  func readyFiles(
    ofOnly batches: Set<BatchID>, limit: Int
  ) throws(SQLiteError) -> [(file: FileID, batch: BatchID)] {
    var heads: [ReadyHead] = []
    try visitReadyBatches(without: []) { if batches.contains($0) { heads.append(ReadyHead(order: $1, batch: $0)) } }
    return try readyFiles(behind: heads, leftOut: [:], limit: limit).map { ($0.order.file, $0.batch) }
  }

  private func readyFiles(
    behind heads: [ReadyHead], leftOut: [BatchID: ClosedRange<Int64>], passed: [BatchID: FileID] = [:], limit: Int
  ) throws(SQLiteError) -> [ReadyHead] {
    var found: [ReadyHead] = []
    for head in heads.sorted(by: { $0.order < $1.order }) {
      if found.count == limit, let last = found.last, last.order < head.order { break }
      found += try readyFiles(head, leftOut: leftOut[head.batch], passed: passed[head.batch], limit: limit)
        .map { ReadyHead(order: $0, batch: head.batch) }
      found = Array(found.sorted { $0.order < $1.order }.prefix(limit))
    }
    return found
  }

  private func readyFiles(
    _ head: ReadyHead, leftOut sizes: ClosedRange<Int64>?, passed: FileID?, limit: Int
  ) throws(SQLiteError) -> [WorkOrder] {
    let read = { (row: SQLRow) in WorkOrder(priority: row.int64(0), file: row.id(1)) }
    let batch = SQLValue.id(head.batch)
    guard let sizes else { return try rows(Self.readyOfBatch, batch, .int(limit), row: read) }
    let (least, most) = (SQLValue.int(sizes.lowerBound), SQLValue.int(sizes.upperBound))
    if let passed {
      let found = try rows(
        Self.readyBehind, batch, least, most, .int(limit), .integer(head.order.priority), .id(passed), row: read)
      if found.count == limit { return found }
    }
    return try rows(Self.readyOfOtherSizes, batch, least, most, .int(limit), row: read)
  }

  /// The next batches that have ready files, ordered by number.
  func readyBatches(after: BatchID, limit: Int) throws(SQLiteError) -> [BatchID] {
    var found: [BatchID] = []
    while found.count < limit,
      let batch = try first(Self.readyHead, .id(found.last ?? after), row: { $0.id(0, BatchID.self) })
    {
      found.append(batch)
    }
    return found
  }

  func readyBatches(among batches: Set<BatchID>) throws(SQLiteError) -> Set<BatchID> {
    var found: Set<BatchID> = []
    try visitReadyBatches(without: []) { batch, _ in
      if batches.contains(batch) { found.insert(batch) }
    }
    return found
  }

  func hasReadyFiles(
    without: Set<BatchID>, leftOut: [BatchID: ClosedRange<Int64>] = [:]
  ) throws(SQLiteError) -> Bool {
    var heads: [ReadyHead] = []
    try visitReadyBatches(without: without) { heads.append(ReadyHead(order: $1, batch: $0)) }
    return try isAnyReady(heads, leftOut: leftOut)
  }

  func hasReadyFiles(
    among batches: Set<BatchID>, leftOut: [BatchID: ClosedRange<Int64>]
  ) throws(SQLiteError) -> Bool {
    var heads: [ReadyHead] = []
    try visitReadyBatches(without: []) { if batches.contains($0) { heads.append(ReadyHead(order: $1, batch: $0)) } }
    return try isAnyReady(heads, leftOut: leftOut)
  }

  private func isAnyReady(
    _ heads: [ReadyHead], leftOut: [BatchID: ClosedRange<Int64>]
  ) throws(SQLiteError) -> Bool {
    for head in heads {
      guard let sizes = leftOut[head.batch] else { return true }
      if try !readyFiles(head, leftOut: sizes, passed: nil, limit: 1).isEmpty { return true }
    }
    return false
  }

  /// Skips from batch to batch in the index.
  private func visitReadyBatches(
    without: Set<BatchID>, _ visit: (BatchID, WorkOrder) -> Void
  ) throws(SQLiteError) {
    var last = BatchID(rawValue: 0)
    while let head = try first(
      Self.readyHead, .id(last),
      row: { (batch: $0.id(0, BatchID.self), order: WorkOrder(priority: $0.int64(1), file: $0.id(2))) })
    {
      last = head.batch
      if !without.contains(last) { visit(last, head.order) }
    }
  }

  static let readyHead: StaticString = """
    SELECT batch_id, priority, id FROM file WHERE state = 'pending' AND not_before IS NULL AND batch_id > ?
    ORDER BY batch_id, priority DESC, id LIMIT 1
    """
  static let readyOfBatch: StaticString = """
    SELECT priority, id FROM file WHERE state = 'pending' AND not_before IS NULL AND batch_id = ?
    ORDER BY priority DESC, id LIMIT ?
    """
  static let readyOfOtherSizes: StaticString = """
    SELECT priority, id FROM file WHERE state = 'pending' AND not_before IS NULL AND batch_id = ?1
      AND (size < ?2 OR size > ?3 OR size IS NULL
        OR EXISTS (SELECT 1 FROM chunk c WHERE c.file_id = file.id AND c.state = 'done'))
    ORDER BY priority DESC, id LIMIT ?4
    """
  static let readyBehind: StaticString = """
    SELECT priority, id FROM file WHERE state = 'pending' AND not_before IS NULL AND batch_id = ?1
      AND priority = ?5 AND id > ?6
      AND (size < ?2 OR size > ?3 OR size IS NULL
        OR EXISTS (SELECT 1 FROM chunk c WHERE c.file_id = file.id AND c.state = 'done'))
    ORDER BY id LIMIT ?4
    """
  static let readyOfSizes: StaticString = """
    SELECT id, path, size FROM file WHERE state = 'pending' AND not_before IS NULL AND batch_id = ?1
      AND size BETWEEN ?2 AND ?3
      AND NOT EXISTS (SELECT 1 FROM chunk c WHERE c.file_id = file.id AND c.state = 'done')
    ORDER BY priority DESC, id LIMIT ?4
    """
  static let readyCountOfSizes: StaticString = """
    SELECT count(*) FROM file WHERE state = 'pending' AND not_before IS NULL AND batch_id = ?1
      AND size BETWEEN ?2 AND ?3
      AND NOT EXISTS (SELECT 1 FROM chunk c WHERE c.file_id = file.id AND c.state = 'done')
    """
}
