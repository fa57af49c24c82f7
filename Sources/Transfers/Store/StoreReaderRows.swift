import TransferLedger
package import TransferModel

/// Lists and single rows.
extension StoreReader {
  /// The properties that rules set for the object of a file.
  package func properties(of file: FileID) throws -> ObjectProperties { try reader.properties(of: file) }

  package func attempt(_ id: AttemptID) throws -> AttemptRow? { try reader.attempt(id) }

  /// Attempts by number, after number `after`, for the files that the filter selects; its error is the attempt's.
  package func attempts(_ filter: RowFilter, after: Int64, limit: Int) throws -> [AttemptRow] {
    try reader.attempts(filter, after: after, limit: limit)
  }

  /// The unchanged beginning of the server's answer; nil if there was none.
  package func replyExcerpt(of id: AttemptID) throws -> NameBytes? { try reader.replyExcerpt(of: id) }

  /// How long the server asked to wait, in milliseconds from the end of the attempt; nil if it did not.
  package func retryAfterMs(of id: AttemptID) throws -> Int64? { try reader.retryAfterMs(of: id) }

  /// The newest attempts for a file, or only those for one of its chunks, in chronological order.
  package func newestAttempts(of file: FileID, chunk: ChunkID?, limit: Int) throws -> [AttemptRow] {
    try reader.newestAttempts(of: file, chunk: chunk, limit: limit)
  }

  /// Batches by number, after number `after`, that the filter names, or that have a file which it selects. Their times,
  /// sent bytes and retries are only filled `withAttempts`, which reads all their attempts.
  package func batches(_ filter: RowFilter, after: Int64, limit: Int, withAttempts: Bool = true) throws -> [BatchRow] {
    try reader.batches(filter, after: after, limit: limit, withAttempts: withAttempts)
  }

  /// Numbers of the batches that match all terms. Reads all batches.
  package func batches(_ terms: BatchTerms) throws -> [Int64] { try reader.batches(terms) }

  /// How many batches have a file that the filter selects, or are named by it.
  package func countBatches(_ filter: RowFilter) throws -> Int { try reader.countBatches(filter) }

  /// In a merged ledger, how many done uploads another shard with a lower number has sent, too.
  package func equalKeys() throws -> Int64 { try reader.equalKeys() }

  /// The numbers of the batches that the filter names, or that have a file which it selects, at most `limit`.
  package func batchIDs(_ filter: RowFilter, limit: Int) throws -> [BatchID] {
    try reader.batchIDs(filter, limit: limit)
  }

  /// The newest batches that are not hidden, newest first, by the primary key.
  package func newestBatches(limit: Int) throws -> [(id: BatchID, name: String?)] {
    try reader.newestBatches(limit: limit)
  }

  /// Chunks by number, after number `after`, of the files that the filter selects.
  package func chunks(_ filter: RowFilter, after: Int64, limit: Int) throws -> [ChunkRow] {
    try reader.chunks(filter, after: after, limit: limit)
  }

  /// The chunks of one file in the order of their bytes.
  package func chunks(of file: FileID, limit: Int) throws -> [ChunkRow] { try reader.chunks(of: file, limit: limit) }

  /// The chunks of one file in the order of their bytes, with their results.
  package func chunkMap(of file: FileID, limit: Int) throws -> [ChunkMapRow] {
    try reader.chunkMap(of: file, limit: limit)
  }

  package func chunk(_ id: ChunkID) throws -> ChunkRow? { try reader.chunk(id) }

  /// Events of the files and batches that the filter selects, by number, after number `after`. An event that took
  /// several transactions is one row, with the number and the time of the first one.
  package func events(_ filter: RowFilter, after: Int64, before: Int64 = .max, limit: Int) throws -> [EventRow] {
    try reader.events(filter, after: after, before: before, limit: limit)
  }

  /// The newest finding about a file since it is done, at its destination or on this machine; nil if it was not
  /// checked.
  package func laterFinding(of file: FileID) throws -> LaterFinding? { try reader.laterFinding(of: file) }

  /// The runs that continued the file, and the bytes that were stored before.
  package func resumptions(of file: FileID) throws -> [(run: RunID, atMs: Int64, storedBytes: Int64)] {
    try reader.resumptions(of: file)
  }

  /// Files by number, after number `after`.
  package func files(_ filter: RowFilter, after: Int64, limit: Int) throws -> [FileRow] {
    try reader.files(filter, after: after, limit: limit)
  }

  /// Files and attempts by their numbers, in this order.
  package func files(_ ids: [Int64]) throws -> [FileRow] { try reader.files(ids) }
  package func attempts(_ ids: [Int64]) throws -> [AttemptRow] { try reader.attempts(ids) }

  /// Files that an engine holds, by number. The cost grows with their number, not with the ledger.
  package func runningFiles(_ filter: RowFilter, limit: Int) throws -> [FileRow] {
    try reader.runningFiles(filter, limit: limit)
  }

  /// The numbers of the files that the filter selects: 8 bytes each.
  package func fileIDs(_ filter: RowFilter) throws -> [FileID] { try reader.fileIDs(filter) }

  /// nil for a file that is not done.
  package func receipt(of file: FileID) throws -> ReceiptRow? { try reader.receipt(of: file) }

  /// Sessions by number, after number `after`, that wait to be aborted, or whose file is at rest; not those of unknown
  /// files, which may be the only trace of a finished object. Read from the indexes of live sessions only.
  package func abandonedSessions(_ filter: RowFilter, after: Int64, limit: Int) throws -> [AbandonedSessionRow] {
    try reader.abandonedSessions(filter, after: after, limit: limit)
  }

  /// How many requests that create something on a server lost their answer, if the server was not or could not be
  /// queried for a list of what it created: what they left there has no id here.
  package func lostCreations(_ filter: RowFilter) throws -> Int64 { try reader.lostCreations(filter) }

  /// How many open sessions belong to files that have not ended.
  package func sessionsInUse(_ filter: RowFilter) throws -> Int64 { try reader.sessionsInUse(filter) }
}
