import TransferLog
import TransferModel

/// One row of `log_group`.
struct LogGroup {
  let first, leaves: Int64
  let entries, hashes: [UInt8]
}

extension LedgerReader {
  /// The number of leaves of the log.
  func logSize(_ shard: ShardNumber = .own) throws -> Int64 {
    let end = try db.first(
      """
      SELECT first_leaf + leaves FROM log_group WHERE first_leaf >= ? AND first_leaf < ?
      ORDER BY first_leaf DESC LIMIT 1
      """, .integer(shard.base), .integer(shard.end)
    ) { $0.int64(0) }
    return (end ?? shard.base) - shard.base
  }

  /// The name of this ledger's log, and that of the ledger from which it was copied. Each UID is a separate log: a copy
  /// and its original diverge, and must not be signed under one name.
  func logOrigins() throws -> (own: String, copied: String?) {
    let uids = try db.first("SELECT uid, origin_uid FROM store_meta") { ($0.uid(0), $0.isNull(1) ? nil : $0.uid(1)) }
    guard let (own, copied) = uids else { throw damagedLog("store_meta is empty") }
    return ("transfers/\(own)", copied.map { "transfers/\($0)" })
  }

  /// Rows of the log from leaf `first` on, at most `limit`.
  func logGroups(_ shard: ShardNumber = .own, from first: Int64, limit: Int) throws -> [LogGroup] {
    try db.rows(
      """
      SELECT first_leaf - ?1, leaves, entries, hashes FROM log_group
      WHERE first_leaf >= ?1 + ?2 AND first_leaf < ?3 ORDER BY first_leaf LIMIT ?4
      """, .integer(shard.base), .integer(first), .integer(shard.end), .int(limit)
    ) { LogGroup(first: $0.int64(0), leaves: $0.int64(1), entries: $0.bytes(2), hashes: $0.bytes(3)) }
  }

  /// Every row of the log, in order.
  func forEachLogGroup(_ shard: ShardNumber = .own, _ body: (LogGroup) throws -> Void) throws {
    var first: Int64 = 0
    while true {
      let groups = try logGroups(shard, from: first, limit: 64)
      for group in groups { try body(group) }
      guard let last = groups.last, last.first < .max else { return }
      first = last.first + 1
    }
  }

  /// The numbers of the attempts that prunes deleted.
  func prunedAttempts(_ shard: ShardNumber = .own) throws -> NumberSet {
    var numbers = NumberSet()
    _ = try db.rows(
      "SELECT first_id, last_id FROM pruned_range WHERE kind = 'attempt' AND first_id >= ? AND first_id < ?",
      .integer(shard.base), .integer(shard.end)
    ) { row in
      let (first, last) = (row.int64(0), row.int64(1))
      guard first <= last else { return }
      for number in first...last { numbers.insert(number) }
    }
    return numbers
  }

  /// The hashes of the leaves from number · 256 on, at most 256, in the log of the first `size` leaves.
  func logTile(_ number: Int64, of size: Int64, _ shard: ShardNumber = .own) throws -> [TreeHash] {
    let (start, end) = (number * TileTree.tileLeaves, min((number + 1) * TileTree.tileLeaves, size))
    let parts = try db.rows(
      """
      SELECT max(first_leaf, ?1) - ?3, substr(hashes, 1 + 32 * max(?1 - first_leaf, 0), 32 * (?2 - ?1)) FROM log_group
      WHERE first_leaf >= coalesce((SELECT max(first_leaf) FROM log_group WHERE first_leaf <= ?1), 0) AND first_leaf < ?2
      ORDER BY first_leaf
      """, .integer(start + shard.base), .integer(end + shard.base), .integer(shard.base)
    ) { (first: $0.int64(0), hashes: $0.bytes(1)) }
    var tile: [TreeHash] = []
    for (first, bytes) in parts {
      guard first >= 0, let hashes = TreeHash.array(bytes), first <= start + Int64(tile.count) else { break }
      tile += hashes.dropFirst(Int(start + Int64(tile.count) - first)).prefix(Int(end - start) - tile.count)
    }
    guard tile.count == Int(end - start) else { throw damagedLog("leaves from \(start) on are missing") }
    return tile
  }

  /// The tree of the log in this snapshot; valid only as long as the snapshot.
  func logTree(_ shard: ShardNumber = .own) throws -> TileTree {
    let size = try logSize(shard)
    return try TileTree(size: size) { try logTile($0, of: size, shard) }
  }

  func damagedLog(_ cause: String) -> TransferError {
    TransferError(
      .storeCorrupt, "read the log", cause: cause, remedy: "run \"transfers store check\"")
  }
}
