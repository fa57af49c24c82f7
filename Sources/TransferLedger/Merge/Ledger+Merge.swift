import TransferModel

extension Ledger {
  /// Updates the ledger at `path`, which is created if it does not exist, to the current state of these shards. Each
  /// shard is merged in one transaction, so that after a crash the ledger has its previous or its current state. Shards
  /// are identified by their uid and may be named in any order, any number of times; unchanged ones are not written.
  /// Each is read as one consistent state, even while an engine works on it, and is not modified. Blocking; durable on
  /// return. `isCancelled` is called periodically, on this thread.
  ///
  /// Throws before anything is written: `.usage` if the ledger is among the shards, errors of the store for a shard
  /// that is not a ledger or cannot be read, `.storeUnsuitable` for a ledger with work of its own, `.locked` while an
  /// engine or another merge uses it. Throws after some shards were merged: `.storeCorrupt` for a shard that is damaged
  /// inside, `.storeUnsuitable` for a copy that diverged, `.storeFull` and other errors of the disk, `.interrupted`.
  package static func merge(
    _ shards: [String], into path: String, clock: any TransferClock, isCancelled: @escaping () -> Bool
  ) throws(TransferError) -> [ShardMerge] {
    let target = ShardFile.identity(path)
    for shard in shards where target != nil && ShardFile.identity(shard) == target {
      throw TransferError(
        .usage, "merge into", NameBytes(path), cause: "it is one of the shards, \"\(printable(shard))\"",
        remedy: "name a new file for the merged ledger")
    }
    var files: [ShardFile] = []
    for shard in shards { files.append(try ShardFile(shard)) }
    do throws(TransferError) {
      return try LedgerMerger(path, clock, isCancelled).merge(files)
    } catch {
      var error = error
      if error.kind == .storeFull { error.remedy = "free space and run the same command again" }
      throw error
    }
  }
}

extension Store {
  /// Refuses to write to a merged ledger, which is only for reading.
  func refuseMerged(_ connection: Connection) throws(TransferError) {
    do {
      let isMerged = try connection.first("SELECT 1 FROM store_meta WHERE merged_since IS NOT NULL") { _ in true }
      guard isMerged == true else { return }
    } catch {
      throw TransferError(error, "open store", path: path)
    }
    throw TransferError.mergedStore(path)
  }
}

extension TransferError {
  /// The error of every change of a merged ledger.
  static func mergedStore(_ path: String) -> TransferError {
    TransferError(
      .storeUnsuitable, "write to store", NameBytes(path),
      cause: "it was merged from other ledgers and is only for reading and reports",
      remedy: "work with its shards and merge them again")
  }
}

extension LedgerReader {
  /// Whether it was merged from other ledgers, and so is only for reading.
  public func isMerged() throws -> Bool {
    try db.first("SELECT merged_since IS NOT NULL FROM store_meta") { $0.flag(0) } ?? false
  }
}
