import TransferModel

extension LedgerReader {
  /// Periods in which a file or batch that the filter selects ended or an attempt began, in chronological order. Reads
  /// the attempts in table order.
  package func periods(_ period: CalendarPeriod, _ filter: RowFilter) throws -> [PeriodRow] {
    var rows: [Int64: PeriodRow] = [:]
    try addFiles(to: &rows, period, filter)
    try addAttempts(to: &rows, period, filter)
    return rows.values.sorted { $0.fromMs < $1.fromMs }
  }

  private func addFiles(to rows: inout [Int64: PeriodRow], _ period: CalendarPeriod, _ filter: RowFilter) throws {
    // Only the sums of each period are kept in memory.
    _ = try db.rows(
      """
      SELECT f.finished_at, f.state, f.size, EXISTS (SELECT 1 FROM receipt r
        WHERE f.state = 'done' AND r.file_id = f.id AND r.n = 1 AND r.confirmation <> 'none')
      FROM file f WHERE f.finished_at IS NOT NULL AND f.state <> 'superseded' AND {files}
      """, filter
    ) { row throws(SQLiteError) in
      let from = period.start(of: row.int64(0))
      rows[from, default: PeriodRow(fromMs: from)].add(
        EndedFile(atMs: row.int64(0), state: try row.named(1), size: row.int64(2), isVerified: row.flag(3)))
    }
  }

  private func addAttempts(to rows: inout [Int64: PeriodRow], _ period: CalendarPeriod, _ filter: RowFilter) throws {
    var flows: [Int64: FlowSums] = [:]
    var batches: [Int64: TransferSpan] = [:]
    try eachFlow(filter) { attempt, _ in
      flows[period.start(of: attempt.startedMs), default: FlowSums()].add(attempt)
      guard !attempt.isAfterItsEnd else { return }
      batches[attempt.batch, default: TransferSpan()].add(startMs: attempt.startedMs, endMs: attempt.endedMs)
    }
    for row in try prunedSums(filter) {
      flows[period.start(of: row.startedMs), default: FlowSums()].add(row)
      batches[row.sums.batch, default: TransferSpan()].add(row.sums)
    }
    for (from, flow) in flows { rows[from, default: PeriodRow(fromMs: from)].flow = flow.total }
    for span in batches.values {
      guard let firstMs = span.firstMs, let lastMs = span.lastMs, lastMs >= firstMs else { continue }
      let from = period.start(of: lastMs)
      let longest = rows[from]?.longestBatchMs ?? 0
      rows[from, default: PeriodRow(fromMs: from)].longestBatchMs = max(longest, lastMs -| firstMs)
    }
  }
}

private struct EndedFile {
  let atMs: Int64
  let state: FileState
  let size: Int64
  let isVerified: Bool
}

extension PeriodRow {
  fileprivate mutating func add(_ file: EndedFile) {
    files[file.state, default: 0] += 1
    guard file.state == .done else { return }
    bytes +|= file.size
    verified += file.isVerified ? 1 : 0
  }
}
