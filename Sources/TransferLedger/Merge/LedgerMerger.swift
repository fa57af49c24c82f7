import CSQLite
import TransferLog
import TransferModel

/// Writes into one merged ledger.
final class LedgerMerger {
  private let file: StoreFile
  private let gate: Gate
  private let connection: Connection
  /// Excludes engines and other merges.
  private let lock: SidecarLock
  private let clock: any TransferClock
  private let isCancelled: () -> Bool
  /// Rows come in order, so most pages are filled once and not touched again. SQLite spends about as much on writing a
  /// page to the log and from there to the file, whatever its size; and with few, large pages it descends less often.
  private static let pageSize = 32_768
  /// Holds the right edges of all indexes, and those that are not in the order of the rows as far as they fit.
  private static let cacheKiB = 65_536

  init(_ path: String, _ clock: any TransferClock, _ isCancelled: @escaping () -> Bool) throws(TransferError) {
    (self.clock, self.isCancelled) = (clock, isCancelled)
    file = try StoreFile(at: path, makesFolder: true)
    if !file.exists { try file.create() }
    gate = try Gate(file)
    var store = Store(path: file.path)
    store.pageSize = Self.pageSize
    connection = try StorePreparation(store: store).prepared(gate, mayBegin: true, wallMs: clock.wallMs)
    do { try Self.requireNoOwnWork(connection, path) } catch {
      throw TransferError(any: error, "merge into", path: path)
    }
    lock = try SidecarLock(path: file.path + ".lock")
    guard try lock.tryLockExclusive() else {
      throw TransferError(
        .locked, "merge into", NameBytes(path), cause: "another merge or an engine is using it",
        remedy: "wait until it has ended")
    }
    do {
      // The shards enforced triggers and foreign keys when they wrote their rows; CHECKs and unique indexes apply here.
      try connection.configure(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
      try connection.execute("PRAGMA foreign_keys=OFF; PRAGMA cache_size=-\(Self.cacheKiB)")
    } catch {
      throw TransferError(any: error, "merge into", path: path)
    }
  }

  private static func requireNoOwnWork(_ connection: Connection, _ path: String) throws {
    let hasOwn = try connection.first(
      """
      SELECT 1 FROM store_meta WHERE merged_since IS NULL AND (EXISTS (SELECT 1 FROM batch WHERE id > 0)
        OR EXISTS (SELECT 1 FROM engine_run WHERE id > 0) OR EXISTS (SELECT 1 FROM event WHERE id > 0))
      """
    ) { _ in true }
    guard hasOwn == nil else {
      throw TransferError(
        .storeUnsuitable, "merge into", NameBytes(path), cause: "it is a ledger with work of its own",
        remedy: "name a new file, and list this one among the shards")
    }
  }

  func merge(_ shards: [ShardFile]) throws(TransferError) -> [ShardMerge] {
    // So that the file alone, without its WAL, is the ledger: people copy it. Also if a shard is refused.
    defer { _ = try? gate.checkpoint(connection) }
    var merges: [ShardMerge] = []
    var seen: [[UInt64]: ShardMerge] = [:]
    for shard in shards {
      let identity = ShardFile.identity(shard.path) ?? []
      if var before = seen[identity] {
        (before.path, before.outcome) = (shard.named, .repeated)
        merges.append(before)
        continue
      }
      let merge = try merge(shard)
      seen[identity] = merge
      merges.append(merge)
    }
    return try withEqualKeys(merges)
  }

  /// Counts the keys that several shards have sent, unless no shard has changed since.
  private func withEqualKeys(_ merges: [ShardMerge]) throws(TransferError) -> [ShardMerge] {
    do {
      if try EqualKeys.areStale(connection) {
        _ = try connection.whileAsking(isCancelled) {
          try inTransaction {
            try EqualKeys.record(connection)
            return true
          }
        }
      }
      var counted = merges
      for index in counted.indices {
        let number = ShardNumber(rawValue: counted[index].number)
        counted[index].equalKeys = try EqualKeys.of(number, connection)
        guard counted[index].equalKeys > 0 else { continue }
        counted[index].otherContents = try EqualKeys.withOtherContent(number, connection)
      }
      return counted
    } catch let error as SQLiteError where error.primary == SQLITE_INTERRUPT {
      throw stopped("stopped before equal keys were counted")
    } catch {
      throw TransferError(any: error, "merge into", path: file.path)
    }
  }

  private func merge(_ shard: ShardFile) throws(TransferError) -> ShardMerge {
    do {
      return try connection.whileAsking(isCancelled) {
        try shard.attached(to: connection) { try mergeAttached(shard) }
      }
    } catch let error as SQLiteError {
      throw describe(error, shard)
    } catch {
      throw TransferError(any: error, "merge into", path: file.path)
    }
  }

  private func mergeAttached(_ shard: ShardFile) throws -> ShardMerge {
    if let merge = try known(shard) { return merge }
    let merge = try inTransaction {
      let merge = try known(shard) ?? take(shard)
      try shard.requireUnwritten()
      return merge
    }
    try gate.checkpointIfLong(connection)
    return merge
  }

  private func inTransaction<T>(_ body: () throws -> T) throws -> T {
    try gate.writing {
      try gate.inTurn { () throws(SQLiteError) in try connection.execute("BEGIN IMMEDIATE") }
      do {
        let result = try body()
        try connection.execute("COMMIT")
        return result
      } catch {
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        throw error
      }
    }
  }

  /// The result for a shard of which nothing has to be written; nil if something has.
  private func known(_ shard: ShardFile) throws -> ShardMerge? {
    let facts = try facts(shard)
    guard let origin = try ShardOrigin(facts.uid, connection) else { return nil }
    let isOlder = facts.progress < origin.progress
    guard try agree(origin.number, upTo: min(facts.leaves, origin.progress.0)) else {
      throw TransferError(
        .storeUnsuitable, "merge shard", NameBytes(shard.named),
        cause: "its history differs from that of shard \(origin.number.rawValue), which has the same uid: copies of "
          + "one ledger diverged", remedy: "merge only one of them, or each into a ledger of its own")
    }
    guard isOlder || facts.progress == origin.progress else { return nil }
    return try outcome(isOlder ? .older : .unchanged, shard, facts, origin.number)
  }

  private func facts(_ shard: ShardFile) throws -> ShardFacts {
    guard let facts = try ShardFacts(connection) else {
      throw TransferError(.storeCorrupt, "read shard", NameBytes(shard.named), cause: "store_meta is empty")
    }
    return facts
  }

  /// Whether the first leaves of both logs are the same. Rows of the log are copied unchanged, so they can be compared
  /// directly. So are runs: one that was killed in its first requests has no leaf.
  private func agree(_ number: ShardNumber, upTo leaves: Int64) throws -> Bool {
    let otherRun = try connection.first(
      """
      SELECT 1 FROM main.engine_run m JOIN shard.engine_run s ON s.id = m.id - ?1
      WHERE m.id >= ?1 AND m.id < ?2 AND s.uid <> m.uid LIMIT 1
      """, .integer(number.base), .integer(number.end)
    ) { _ in true }
    guard otherRun == nil else { return false }
    return try connection.first(
      """
      SELECT 1 FROM main.log_group m LEFT JOIN shard.log_group s ON s.first_leaf = m.first_leaf - ?1
      WHERE m.first_leaf >= ?1 AND m.first_leaf < ?1 + ?2 AND (s.hashes IS NOT m.hashes OR s.entries IS NOT m.entries)
      LIMIT 1
      """, .integer(number.base), .integer(leaves)
    ) { _ in true } == nil
  }

  private func take(_ shard: ShardFile) throws -> ShardMerge {
    let facts = try facts(shard)
    // An empty ledger may have been put to use meanwhile.
    try Self.requireNoOwnWork(connection, file.path)
    try connection.run(
      "UPDATE store_meta SET merged_since = ? WHERE merged_since IS NULL", .integer(clock.wallMs))
    let number = try ShardOrigin.note(facts, wallMs: clock.wallMs, connection)
    for table in ShardTable.all {
      if try table.isBeyond(connection) {
        throw TransferError(
          .storeUnsuitable, "merge shard", NameBytes(shard.named), cause: "a number in \(table.name) is too large")
      }
      try table.delete(number, in: connection)
    }
    for table in ShardTable.all { try table.copy(number, in: connection) }
    try record(number, facts)
    return try outcome(.merged, shard, facts, number)
  }

  /// Records an event of the merged ledger itself, in its own log, so that a seal of it covers the heads of all shards.
  private func record(_ number: ShardNumber, _ facts: ShardFacts) throws {
    let head = base64(try LedgerReader(db: connection).logTree(number).head.bytes)
    let event = try connection.insert(
      """
      INSERT INTO event (id, at, verb, detail)
      VALUES ((SELECT coalesce(max(id), 0) + 1 FROM event WHERE id < 1000000000000), ?, 'merged', ?)
      """, .integer(clock.wallMs),
      .text("shard \(number.rawValue): transfers/\(facts.logUID), \(facts.leaves) leaves, head \(head)"))
    let transaction = LedgerTransaction(db: connection, wallMs: clock.wallMs)
    transaction.logs(event: event)
    try transaction.appendLog(TreeHasher())
  }

  private func outcome(
    _ outcome: ShardMerge.Outcome, _ shard: ShardFile, _ facts: ShardFacts, _ number: ShardNumber
  ) throws -> ShardMerge {
    let counts = try connection.first(
      """
      SELECT (SELECT count(*) FROM main.file WHERE id >= ?1 AND id < ?2),
        (SELECT count(*) FROM main.attempt WHERE id >= ?1 AND id < ?2)
      """, .integer(number.base), .integer(number.end)
    ) { ($0.int64(0), $0.int64(1)) }
    return ShardMerge(
      path: shard.named, outcome: outcome, number: number.rawValue, uid: "\(facts.uid)", host: facts.host,
      files: counts?.0 ?? 0, attempts: counts?.1 ?? 0, isUnfinished: facts.isUnfinished)
  }

  private func stopped(_ cause: String) -> TransferError {
    TransferError(
      .interrupted, "merge into", NameBytes(file.path), cause: cause, remedy: "run the same command again")
  }

  /// Attributes errors in rows to the shard: rows that are merged already came from sound shards.
  private func describe(_ error: SQLiteError, _ shard: ShardFile) -> TransferError {
    switch error.primary {
    case SQLITE_INTERRUPT:
      return stopped("stopped; the shard was not merged")
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_TOOBIG:
      return TransferError(
        .storeCorrupt, "merge shard", NameBytes(shard.named), cause: "it is damaged (\(error.message))",
        remedy: "\"transfers store check --store FILE\" shows where; merge an intact copy")
    default:
      return TransferError(error, "merge into", path: file.path)
    }
  }
}
