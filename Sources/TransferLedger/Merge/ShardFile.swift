import Glibc
import TransferModel

/// A shard of a merge: a ledger that is read and never written, on any file system.
struct ShardFile {
  /// The path as it was given.
  let named: String
  let path: String
  private let file: StoreFile
  private let access: Connection.Access
  /// The stamp of the file when it was opened, to detect writes to a ledger that can only be read without locks.
  private let stamp: [Int]

  /// Throws the same errors as every other command if the ledger cannot be read.
  init(_ named: String) throws(TransferError) {
    self.named = named
    file = try StoreFile(at: named, makesFolder: false, isOnlyRead: true)
    guard file.exists else {
      throw TransferError(.storeMissing, "read shard", NameBytes(named), cause: "it does not exist")
    }
    path = file.path
    stamp = file.stamp
    let reader = SnapshotReader(store: Store(path: path), file: file, trustsLocks: file.hasSafeLocks)
    let isMerged = try reader.read { try $0.isMerged() }
    access = reader.isImmutable ? .immutable : .readOnly
    reader.close()
    guard !isMerged else {
      throw TransferError(
        .storeUnsuitable, "read shard", NameBytes(named), cause: "it is a merged ledger itself",
        remedy: "name its shards instead")
    }
  }

  /// Identifies the file under any of its names; nil if it does not exist.
  static func identity(_ path: String) -> [UInt64]? {
    var status = stat()
    return stat(path, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : nil
  }

  /// Runs `body` while the ledger is attached to the connection as the database `shard`. Must be called outside of a
  /// transaction.
  func attached<T>(to connection: Connection, _ body: () throws -> T) throws -> T {
    try connection.run("ATTACH ? AS shard", .text(Connection.uri(path, access)))
    defer { _ = try? connection.run("DETACH shard") }
    try connection.execute("PRAGMA cell_size_check=ON; PRAGMA shard.mmap_size=0")
    return try body()
  }

  /// Throws if a ledger that is read without locks was written meanwhile. Must be the last step before the data that
  /// was read is committed.
  func requireUnwritten() throws(TransferError) {
    guard access == .immutable, file.walSize > 0 || file.stamp != stamp else { return }
    throw TransferError(
      .storeBusy, "read shard", NameBytes(named), cause: "it was written meanwhile, and cannot be locked from here",
      remedy: "merge a copy: \"transfers store snapshot\"")
  }
}

/// The leaves of the log, the newest attempt and run (the sum of their numbers), the newest file, the last sign of life
/// of the newest run: every change to a shard advances one of them, also on a node whose clock is behind.
typealias ShardProgress = (Int64, Int64, Int64, Int64)

/// What a shard that is attached to a connection records about itself.
struct ShardFacts {
  /// `uid` is that of the ledger that it was copied from, if it is a copy; `logUID` is its own.
  let uid, logUID: UID
  let host: String
  let isUnfinished: Bool
  /// Its progress: every change advances one of these.
  let leaves, newestAttempt, newestFile, aliveMs: Int64

  init?(_ connection: Connection) throws(SQLiteError) {
    let facts = try connection.first(
      """
      SELECT coalesce(origin_uid, uid), uid,
        coalesce((SELECT host FROM shard.engine_run ORDER BY id DESC LIMIT 1), ''),
        EXISTS (SELECT 1 FROM shard.engine_run WHERE ended_at IS NULL),
        coalesce((SELECT first_leaf + leaves FROM shard.log_group ORDER BY first_leaf DESC LIMIT 1), 0),
        coalesce((SELECT sum(seq) FROM shard.sqlite_sequence WHERE name IN ('attempt', 'engine_run')), 0),
        coalesce((SELECT seq FROM shard.sqlite_sequence WHERE name = 'file'), 0),
        coalesce((
          SELECT max(heartbeat_at, started_at, coalesce(ended_at, 0)) FROM shard.engine_run ORDER BY id DESC LIMIT 1), 0)
      FROM shard.store_meta
      """
    ) { row in
      ShardFacts(
        uid: row.uid(0), logUID: row.uid(1), host: row.text(2), isUnfinished: row.flag(3), leaves: row.int64(4),
        newestAttempt: row.int64(5), newestFile: row.int64(6), aliveMs: row.int64(7))
    }
    guard let facts else { return nil }
    self = facts
  }

  private init(
    uid: UID, logUID: UID, host: String, isUnfinished: Bool, leaves: Int64, newestAttempt: Int64, newestFile: Int64,
    aliveMs: Int64
  ) {
    (self.uid, self.logUID, self.host, self.isUnfinished) = (uid, logUID, host, isUnfinished)
    (self.leaves, self.newestAttempt, self.newestFile, self.aliveMs) = (leaves, newestAttempt, newestFile, aliveMs)
  }

  var progress: ShardProgress { (leaves, newestAttempt, newestFile, aliveMs) }
}
