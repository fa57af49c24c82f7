import TransferModel

/// The position of a file in the order of work.
struct WorkOrder: Comparable {
  var priority: Int64
  var file: FileID

  static func < (a: Self, b: Self) -> Bool {
    a.priority == b.priority ? a.file < b.file : a.priority > b.priority
  }
}

/// Ready files of all batches except some. The cost grows with the batches that have ready files, not with the files.
extension Connection {
  /// The first `limit` ready files, in the order of work.
  func readyFiles(without: Set<BatchID>, limit: Int) throws(SQLiteError) -> [FileID] {
    var heads: [(batch: BatchID, order: WorkOrder)] = []
    try visitReadyBatches(without: without) { heads.append(($0, $1)) }
    heads.sort { $0.order < $1.order }
    var found: [WorkOrder] = []
    for head in heads {
      if found.count == limit, let last = found.last, last < head.order { break }
      found += try rows(Self.readyOfBatch, .id(head.batch), .int(limit)) {
        WorkOrder(priority: $0.int64(0), file: $0.id(1))
      }
      found = Array(found.sorted().prefix(limit))
    }
    return found.map(\.file)
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

  func hasReadyFiles(without: Set<BatchID>) throws(SQLiteError) -> Bool {
    var isAny = false
    try visitReadyBatches(without: without) { _, _ in isAny = true }
    return isAny
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
}
