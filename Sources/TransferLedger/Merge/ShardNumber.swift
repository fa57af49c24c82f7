/// The shard of a merged ledger that a row belongs to: the number of its `origin_store`. Row `n` of shard `k` has the
/// number `k · 10¹² + n` in every table, so that numbers stay the same when a shard is merged again, ranges stay ranges
/// and blocks of 4,096 stay blocks. Up to 9,007 shards keep them within the 53 bits that JSON readers support.
struct ShardNumber: Hashable {
  static let stride: Int64 = 1_000_000_000_000
  /// The number of shards that fit below 2^63.
  static let most: Int64 = 9_000_000
  /// The ledger itself.
  static let own = ShardNumber(rawValue: 0)

  init(rawValue: Int64) { self.rawValue = rawValue }
  /// The shard that the row with this number belongs to.
  init(ofRow number: Int64) { rawValue = number / Self.stride }

  let rawValue: Int64
  var base: Int64 { rawValue * Self.stride }
  /// The first number after those of the shard.
  var end: Int64 { base + Self.stride }
}

extension LedgerReader {
  /// The ledger itself and the shards that were merged into it.
  func shards() throws -> [ShardNumber] {
    [.own] + (try db.rows("SELECT id FROM origin_store ORDER BY id") { ShardNumber(rawValue: $0.int64(0)) })
  }

  /// The shard whose log has this name; nil if the log is that of another ledger.
  func shard(ofLog name: String) throws -> ShardNumber? {
    let origins = try logOrigins()
    if name == origins.own || name == origins.copied { return .own }
    let named = try db.rows("SELECT id, uid, coalesce(log_uid, uid) FROM origin_store") {
      (shard: ShardNumber(rawValue: $0.int64(0)), names: ["transfers/\($0.uid(1))", "transfers/\($0.uid(2))"])
    }
    return named.first { $0.names.contains(name) }?.shard
  }
}
