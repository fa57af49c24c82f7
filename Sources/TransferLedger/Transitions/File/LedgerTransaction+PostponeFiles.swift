public import TransferModel

extension LedgerTransaction {
  /// Makes ready files of some batches wait, because their host asked for a pause, each batch until its time in
  /// milliseconds since 1970 UTC. They are promoted like all files that are due: in the order of their times, a few
  /// thousand with each claim. So that this is the order of work, whichever batches they are of, `number` is added to
  /// the times: how many thousands were postponed before. Takes up to `limit` files; returns how many. Throws
  /// `.leaseLost` if `run` has ended.
  public func postponeFiles(
    _ run: RunID, until dueMs: [BatchID: Int64], number: Int64 = 0, limit: Int
  ) throws -> Int {
    try requireLease(run)
    let files = try db.readyFiles(ofOnly: Set(dueMs.keys), limit: limit)
    for (file, batch) in files {
      guard let ms = dueMs[batch] else { continue }
      try db.run(Self.postponeFile, .int(ms + number), .id(file))
    }
    return files.count
  }

  static let postponeFile: StaticString = """
    UPDATE file SET not_before = ? WHERE id = ? AND state = 'pending' AND not_before IS NULL
    """
}
