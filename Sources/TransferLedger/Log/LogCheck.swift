import TransferLog
import TransferModel

/// Compares the log with its rows.
extension LedgerReader {
  static let logRule = "I51 the log matches its rows and covers each of them"

  /// The differences, at most 100 for each shard: rows that were changed, deleted or added without being logged. Reads
  /// every row that has a leaf.
  func logFindings() throws -> [String] {
    try shards().reduce(into: []) { findings, shard in findings += try logFindings(shard) }
  }

  private func logFindings(_ shard: ShardNumber) throws -> [String] {
    let check = try LogCheck(self, shard)
    try forEachLogGroup(shard) { check.noteCredits($0) }
    try forEachLogGroup(shard) { try check.take($0) }
    return try check.findings()
  }
}

private final class LogCheck {
  private static let most = 100
  private let reader: LedgerReader
  private let shard: ShardNumber
  private let encoder: LeafEncoder
  private var problems: [String] = []
  private var next: Int64 = 0
  private var receipts = NumberSet()
  private var furtherReceipts: Set<LogEntry> = []
  private var attempts = NumberSet()
  private var events = NumberSet()
  private var prunes = NumberSet()
  /// Attempts that were deleted according to prunes, and those of them that have a leaf.
  private let pruned: NumberSet
  private var prunedAttempts = NumberSet()
  /// An attempt of a part that did not succeed may get bytes credited later. It then has another leaf, whose entry
  /// contains the counts of the previous leaf. For each such attempt: the counts of its leaves in order, except the
  /// last leaf, which is made from the present row. Counts are removed when their leaf has been compared.
  private var countsBefore: [Int64: [SentCounts]] = [:]

  init(_ reader: LedgerReader, _ shard: ShardNumber) throws {
    (self.reader, self.shard) = (reader, shard)
    pruned = try reader.prunedAttempts(shard)
    encoder = LeafEncoder(reader.db)
  }

  func take(_ group: LogGroup) throws {
    if group.first != next { report("leaf \(group.first) follows leaf \(next &- 1)") }
    next = group.first &+ group.leaves
    guard let entries = LogEntry.all(group.entries), let hashes = TreeHash.array(group.hashes),
      entries.count == group.leaves, hashes.count == group.leaves
    else { return report("the leaves from \(group.first) on cannot be read") }
    for (offset, (entry, hash)) in zip(entries, hashes).enumerated() {
      try compare(entry.shifted(by: shard.base), hash, at: group.first &+ Int64(offset))
    }
  }

  func noteCredits(_ group: LogGroup) {
    for case .credited(let id, let transferred, let acked) in LogEntry.all(group.entries) ?? [] {
      countsBefore[id &+ shard.base, default: []].append(SentCounts(transferred: transferred, acked: acked))
    }
  }

  /// Whether the entry is expected: each row has one leaf, and an additional one for each credit.
  private func isExpected(_ entry: LogEntry) throws -> Bool {
    switch entry {
    case .receipt(let file, 1): receipts.insert(file)
    case .receipt: furtherReceipts.insert(entry).inserted
    case .attempt(let id): pruned.contains(id) ? prunedAttempts.insert(id) : attempts.insert(id)
    case .event(let id): events.insert(id)
    case .prune(let id): prunes.insert(id)
    case .credited(let id, _, _) where pruned.contains(id): prunedAttempts.contains(id)
    case .credited(let id, _, _): try attempts.contains(id) && mayBeCredited(id)
    }
  }

  private func mayBeCredited(_ attempt: Int64) throws -> Bool {
    try reader.db.first(
      "SELECT 1 FROM attempt WHERE id = ? AND operation = 'part' AND outcome <> 'ok'", .integer(attempt)
    ) { _ in true } == true
  }

  private func compare(_ entry: LogEntry, _ hash: TreeHash, at leaf: Int64) throws {
    guard try isExpected(entry) else {
      return report("leaf \(leaf): \(entry) is logged twice, or credited although it may not be")
    }
    // The prune that deleted it has its own leaf.
    if isPruned(entry) { return }
    guard let found = try encoder.hash(entry, counts: takeCounts(entry)) else {
      return report("leaf \(leaf): \(entry) does not exist")
    }
    if found != hash { report("leaf \(leaf): \(entry) is not what was logged") }
  }

  /// The counts in the leaf of this entry; nil if they are those of the row.
  private func takeCounts(_ entry: LogEntry) -> SentCounts? {
    switch entry {
    case .attempt(let id), .credited(let id, _, _):
      guard countsBefore[id]?.isEmpty == false else { return nil }
      return countsBefore[id]?.removeFirst()
    case .receipt, .event, .prune: return nil
    }
  }

  private func isPruned(_ entry: LogEntry) -> Bool {
    switch entry {
    case .attempt(let id), .credited(let id, _, _): pruned.contains(id)
    case .receipt, .event, .prune: false
    }
  }

  private func report(_ problem: String) { if problems.count < Self.most { problems.append(problem) } }

  /// All findings, including rows without a leaf.
  func findings() throws -> [String] {
    for (name, logged, sql) in kinds {
      let rule = "\(sql) AND \(name.column) >= \(shard.base) AND \(name.column) < \(shard.end)"
      guard try reader.db.rowsOnce("SELECT count(*) FROM \(rule)", row: { $0.int64(0) }) != [logged.count] else {
        continue
      }
      let rows = try reader.db.rowsOnce("SELECT \(name.column) FROM \(rule)") { $0.int64(0) }
      for id in rows where !logged.contains(id) { report("\(name.prefix)\(id) is not in the log") }
    }
    let further = try reader.db.rows(
      "SELECT file_id, n FROM receipt WHERE n > 1 AND file_id >= ? AND file_id < ?", .integer(shard.base),
      .integer(shard.end)
    ) { ($0.int64(0), $0.int64(1)) }
    for row in further {
      let entry = LogEntry.receipt(file: row.0, n: row.1)
      if !furtherReceipts.contains(entry) { report("\(entry) is not in the log") }
    }
    if prunedAttempts.count != pruned.count {
      report("\(pruned.count) attempts were pruned, and \(prunedAttempts.count) of them are in the log")
    }
    return problems
  }

  private var kinds: [((prefix: String, column: String), NumberSet, String)] {
    [
      (("receipt 1 of f", "file_id"), receipts, "receipt WHERE n = 1"),
      (("a", "id"), attempts, "attempt WHERE outcome <> 'open'"), (("event ", "id"), events, "event WHERE 1"),
      (("prune ", "id"), prunes, "prune WHERE 1"),
    ]
  }
}
