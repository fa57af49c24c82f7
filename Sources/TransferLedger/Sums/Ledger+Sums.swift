import TransferModel

/// The engine writes sums of rows that cannot change any more, a few blocks in a transaction.
extension Ledger {
  /// Blocks of 4,096 rows in one transaction, which takes a few milliseconds.
  static let sumsAtOnce = 4
  /// A sum of fewer done files is not worth its row.
  static let fewestFilesOfSum = 64

  /// Whether a run that completed `done` files should add up done files. Those that complete a few do it in turn:
  /// the batches of a job that runs every five minutes never have enough files for a sum, and reading all of them at
  /// the end of each run would make each run slower than the last.
  public func shouldAddUpFiles(_ run: RunID, done: Int) -> Bool {
    done >= Self.fewestFilesOfSum || run.rawValue % Int64(Self.fewestFilesOfSum) == 0
  }

  /// Adds up the history since the last call. Blocking; stops between two transactions once `isStopped` returns true,
  /// and the next run does the rest.
  /// - Parameter withFiles: whether to look for done files, which reads all that have no sum yet.
  public func addUpHistory(withFiles: Bool = true, until isStopped: () -> Bool) throws(TransferError) {
    while !isStopped(), try hasAttemptsToAddUp(), try write({ try $0.addUpAttempts() }) {}
    guard withFiles else { return }
    let blocks = try read { try $0.doneBlocksToAddUp() }
    for start in stride(from: 0, to: blocks.count, by: Self.sumsAtOnce) where !isStopped() {
      let part = Array(blocks[start..<min(start + Self.sumsAtOnce, blocks.count)])
      try write { tx in for (batch, block) in part { try tx.addUpDone(batch, block) } }
    }
  }
}

extension Ledger {
  /// Mostly there are none, and then nothing is written.
  private func hasAttemptsToAddUp() throws(TransferError) -> Bool {
    try read { reader in try !reader.attemptBlocksToAddUp(limit: 1).isEmpty }
  }
}

extension LedgerTransaction {
  /// Writes the sums of the next blocks whose attempts have all ended; returns false if there is none. An attempt that
  /// is open for long delays only its own block.
  public func addUpAttempts() throws -> Bool {
    let blocks = try LedgerReader(db: db).attemptBlocksToAddUp(limit: Ledger.sumsAtOnce)
    for block in blocks {
      for row in try LedgerReader(db: db).attemptSumRows(of: block) { try row.insert(into: db) }
    }
    return !blocks.isEmpty
  }

  /// Writes the sum of the done files of a batch in a block, unless it exists.
  func addUpDone(_ batch: Int64, _ block: Int64) throws {
    try db.run(
      """
      INSERT INTO file_sum (batch_id, block, files, bytes, hidden_files, hidden_bytes, unverified, slowest)
      SELECT ?1, ?2, count(*), sum_bytes(f.size), count(f.hidden),
        sum_bytes(iif(f.hidden, f.size, 0)),
        sum(r.confirmation = 'none'),
        (SELECT coalesce(json_group_array(json_array(ms, id)), '[]') FROM (
          SELECT finished_at - started_at ms, id FROM file
          WHERE state = 'done' AND batch_id = ?1 AND id BETWEEN ?2 << 12 AND (?2 << 12) + 4095 AND started_at IS NOT NULL
          ORDER BY 1 DESC, 2 LIMIT 3))
      FROM file f JOIN receipt r ON r.file_id = f.id AND r.n = 1
      WHERE f.state = 'done' AND f.batch_id = ?1 AND f.id BETWEEN ?2 << 12 AND (?2 << 12) + 4095
        AND NOT EXISTS (SELECT 1 FROM file_sum WHERE batch_id = ?1 AND block = ?2)
      GROUP BY f.batch_id
      """, .integer(batch), .integer(block))
  }
}

extension LedgerReader {
  /// Blocks without a sum that have attempts, are complete and have no open attempt, oldest first.
  func attemptBlocksToAddUp(limit: Int) throws -> [Int64] {
    guard let newest = try db.first("SELECT max(id) FROM attempt", row: { $0.int64OrNil(0) }) ?? nil else { return [] }
    let open = Set(
      try db.rows("SELECT id FROM attempt INDEXED BY attempt_open WHERE outcome = 'open'") {
        $0.int64(0) >> SumBlock.shift
      })
    var found: [Int64] = []
    for gap in SumBlock.gaps(between: try summedBlocks(), newest: newest) {
      var next: Int64? = gap.lowerBound
      while found.count < limit, let number = try next.flatMap({ try firstAttempt(from: $0, to: gap.upperBound) }) {
        let block = number >> SumBlock.shift
        if SumBlock.last(block) <= newest, !open.contains(block) { found.append(block) }
        next = SumBlock.last(block) + 1
      }
    }
    return found
  }

  /// The first attempt in a range. Numbers have holes: a block may be empty, and then has no sum.
  private func firstAttempt(from: Int64, to: Int64) throws -> Int64? {
    try db.first("SELECT min(id) FROM attempt WHERE id BETWEEN ?1 AND ?2", .integer(from), .integer(to)) {
      $0.int64OrNil(0)
    } ?? nil
  }

  /// The sums of a block of attempts, one for each batch that has attempts in it.
  func attemptSumRows(of block: Int64) throws -> [AttemptSumRow] {
    var sums: [Int64: AttemptSums] = [:]
    _ = try db.rows(
      """
      SELECT f.batch_id, a.id, a.outcome, a.started_at, a.ended_at, a.bytes_transferred,
        iif(a.outcome = 'ok' AND (a.operation = 'part' OR a.bytes_transferred > 0), a.total_ms, NULL), a.error_code,
        a.operation = 'abort' OR a.chunk_id IS NULL AND a.operation IN ('verify', 'probe') AND f.state = 'done'
          AND a.started_at > f.finished_at
      FROM attempt a CROSS JOIN file f ON f.id = a.file_id WHERE a.id BETWEEN ?1 AND ?2
      """, .integer(SumBlock.first(block)), .integer(SumBlock.last(block))
    ) { sums[$0.int64(0), default: AttemptSums()].add(SummedAttempt($0, from: 1)) }
    let costs = try attemptCosts(SumBlock.first(block)...SumBlock.last(block), of: nil)
    return try sums.sorted { $0.key < $1.key }.map { batch, sums in
      try AttemptSumRow(batch: batch, block: block, sums, costs[batch] ?? AttemptCostSums())
    }
  }

  /// Batches and blocks that have no sum yet and enough done files for a sum to be worth its row.
  func doneBlocksToAddUp() throws -> [(batch: Int64, block: Int64)] {
    try doneSums().stretches.flatMap { stretch in
      let read = { (row: SQLRow) in (batch: row.int64(0), block: row.int64(1)) }
      return switch stretch {
      case .batches(let after, let before):
        try db.rows(
          """
          SELECT batch_id, id >> 12 FROM file WHERE state = 'done' AND batch_id > ?1 AND batch_id < ?2
          GROUP BY batch_id, id >> 12 HAVING count(*) >= 64
          """, .integer(after), .integer(before), row: read)
      case .files(let batch, let after, let before):
        try db.rows(
          """
          SELECT batch_id, id >> 12 FROM file WHERE state = 'done' AND batch_id = ?1 AND id > ?2 AND id < ?3
          GROUP BY batch_id, id >> 12 HAVING count(*) >= 64
          """, .integer(batch), .integer(after), .integer(before), row: read)
      }
    }
  }
}
