import CSQLite
import TransferModel

/// What a merged ledger knows about a shard.
struct ShardOrigin {
  let number: ShardNumber
  let progress: ShardProgress

  init?(_ uid: UID, _ connection: Connection) throws(SQLiteError) {
    let row = try connection.first(
      "SELECT id, leaves, newest_attempt, newest_file, alive_at FROM main.origin_store WHERE uid = ?", .uid(uid)
    ) { ($0.int64(0), ($0.int64(1), $0.int64(2), $0.int64(3), $0.int64(4))) }
    guard let row else { return nil }
    (number, progress) = (ShardNumber(rawValue: row.0), row.1)
  }

  /// Records the facts of a shard and returns its number: the one that it has, or the next.
  static func note(_ facts: ShardFacts, wallMs: Int64, _ connection: Connection) throws(SQLiteError) -> ShardNumber {
    let number = try connection.first(
      """
      INSERT INTO main.origin_store (uid, host, merged_at, log_uid, leaves, newest_attempt, newest_file, alive_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (uid) DO UPDATE SET host = excluded.host, merged_at = excluded.merged_at, log_uid = excluded.log_uid,
        leaves = excluded.leaves, newest_attempt = excluded.newest_attempt, newest_file = excluded.newest_file,
        alive_at = excluded.alive_at, equal_keys = NULL
      RETURNING id
      """, .uid(facts.uid), .text(facts.host), .integer(wallMs), .uid(facts.logUID), .integer(facts.leaves),
      .integer(facts.newestAttempt), .integer(facts.newestFile), .integer(facts.aliveMs)
    ) { ShardNumber(rawValue: $0.int64(0)) }
    guard let number else { throw SQLiteError(code: SQLITE_INTERNAL, message: "no number for a shard") }
    return number
  }
}
