import TransferLog
import TransferModel

/// The log grows in the transaction that makes its rows final: after a crash, both exist or neither.
extension LedgerTransaction {
  /// The most leaves of one row of `log_group`: reading a row needs no more memory than four tiles of the tree.
  static let leavesOfGroup = 1024

  /// Appends the leaves of the rows that became final in this transaction, with their present content. The last action
  /// before the commit: the log would not match a row that changed afterwards.
  func appendLog(_ hasher: TreeHasher) throws {
    guard !notes.ended.isEmpty else { return }
    let encoder = LeafEncoder(db, hasher)
    var next = try db.first(Self.logEnd) { $0.int64(0) } ?? 0
    for start in stride(from: 0, to: notes.ended.count, by: Self.leavesOfGroup) {
      let group = notes.ended[start..<min(start + Self.leavesOfGroup, notes.ended.count)]
      var (entries, hashes): ([UInt8], [UInt8]) = ([], [])
      entries.reserveCapacity(4 * group.count)
      hashes.reserveCapacity(TreeHash.length * group.count)
      for entry in group {
        guard let hash = try encoder.hash(entry) else { throw absent(entry) }
        entry.append(to: &entries)
        hash.append(to: &hashes)
      }
      try db.run(
        "INSERT INTO log_group (first_leaf, leaves, entries, hashes) VALUES (?, ?, ?, ?)", .integer(next),
        .int(group.count), .blob(entries), .blob(hashes))
      next += Int64(group.count)
    }
    notes.ended = []
  }

  /// Appends no leaves for what this transaction has ended so far. Only to measure the price of the log
  /// (`tools/bench ledger`): `store check` reports the rows of such a ledger.
  package func leaveOutLeaves() { notes.ended = [] }

  /// The end of the ledger's own log; the logs of merged shards follow it.
  static let logEnd: StaticString = """
    SELECT first_leaf + leaves FROM log_group WHERE first_leaf < 1000000000000 ORDER BY first_leaf DESC LIMIT 1
    """

  /// Logs that the attempt has ended.
  func logs(_ attempt: AttemptID) { notes.ended.append(.attempt(attempt.rawValue)) }

  /// Logs that bytes were credited to an ended attempt, whose counts were `before`. If a leaf of this transaction
  /// covers the attempt already, that leaf will have the new counts.
  func logs(credited attempt: AttemptID, before: SentCounts) {
    let number = attempt.rawValue
    let isLogged = notes.ended.contains { entry in
      switch entry {
      case .attempt(number), .credited(number, _, _): true
      default: false
      }
    }
    guard !isLogged else { return }
    notes.ended.append(.credited(attempt: number, transferred: before.transferred, acked: before.acked))
  }

  /// Logs that receipt number `n` of the file was recorded.
  func logs(receipt n: Int64, of file: FileID) { notes.ended.append(.receipt(file: file.rawValue, n: n)) }

  /// Logs a prune that was recorded, with everything that it deletes.
  func logs(prune: Int64) { notes.ended.append(.prune(prune)) }

  func logs(event: Int64) { notes.ended.append(.event(event)) }

  private func absent(_ entry: LogEntry) -> TransferError {
    TransferError(
      .bug, "append to the log", NameBytes(entry.description), cause: "its row does not exist",
      remedy: "run \"transfers store check\"")
  }
}
