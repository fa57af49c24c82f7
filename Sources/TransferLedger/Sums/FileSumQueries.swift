import TransferModel

/// A range of the done files in index order: batch by batch, and by number within a batch.
enum DoneStretch: Equatable {
  /// All done files of the batches between these two.
  case batches(after: Int64, before: Int64)
  /// The done files of one batch between these two numbers.
  case files(of: Int64, after: Int64, before: Int64)
}

/// A sum over the done files of a batch in one block.
struct DoneSum {
  var batch: Int64
  var block: Int64
  var files: Int
  var bytes: Int64
  var hiddenFiles: Int
  var hiddenBytes: Int64
  var unverified: Int

  init(_ row: SQLRow) {
    (batch, block, files, bytes) = (row.int64(0), row.int64(1), row.int(2), row.int64(3))
    (hiddenFiles, hiddenBytes, unverified) = (row.int(4), row.int64(5), row.int(6))
  }
}

/// Sums over done files, which stay done: the sums that runs recorded, and the stretches between them.
struct DoneSums {
  let sums: [DoneSum]
  /// The files that no sum covers.
  let stretches: [DoneStretch]

  /// - Parameter batch: the only batch to cover; nil for all.
  init(_ sums: [DoneSum], of batch: Int64?) {
    self.sums = sums
    var found: [DoneStretch] = []
    var at = (batch: batch ?? .min, file: Int64.max)
    if let batch, sums.isEmpty { found.append(.files(of: batch, after: -1, before: .max)) }
    for sum in sums {
      let first = SumBlock.first(sum.block)
      if sum.batch == at.batch, at.file != .max {
        if at.file +| 1 < first { found.append(.files(of: sum.batch, after: at.file, before: first)) }
      } else {
        found += Self.end(of: at, before: sum.batch)
        if first > 0 { found.append(.files(of: sum.batch, after: -1, before: first)) }
      }
      at = (sum.batch, SumBlock.last(sum.block))
    }
    if batch == nil {
      found += Self.end(of: at, before: .max)
    } else if !sums.isEmpty {
      found.append(.files(of: at.batch, after: at.file, before: .max))
    }
    stretches = found
  }

  private static func end(of at: (batch: Int64, file: Int64), before next: Int64) -> [DoneStretch] {
    let rest: [DoneStretch] = at.file == .max ? [] : [.files(of: at.batch, after: at.file, before: .max)]
    let between: [DoneStretch] = at.batch < next - 1 ? [.batches(after: at.batch, before: next)] : []
    return rest + between
  }
}

extension LedgerReader {
  func doneSums(of batch: Int64? = nil) throws -> DoneSums {
    let sums =
      if let batch {
        try db.rows(
          """
          SELECT batch_id, block, files, bytes, hidden_files, hidden_bytes, unverified FROM file_sum WHERE batch_id = ?
          ORDER BY batch_id, block
          """, .integer(batch), row: DoneSum.init)
      } else {
        try db.rows(
          """
          SELECT batch_id, block, files, bytes, hidden_files, hidden_bytes, unverified FROM file_sum
          ORDER BY batch_id, block
          """, row: DoneSum.init)
      }
    return DoneSums(sums, of: batch)
  }

  /// The number of done files, and the sum of their sizes.
  func doneTally(_ done: DoneSums, withHidden: Bool = true) throws -> (count: Int, sum: Int64) {
    var tally = (count: 0, sum: Int64(0))
    for sum in done.sums {
      tally.count +|= sum.files -| (withHidden ? 0 : sum.hiddenFiles)
      tally.sum +|= sum.bytes -| (withHidden ? 0 : sum.hiddenBytes)
    }
    for stretch in done.stretches {
      let rest =
        switch stretch {
        case .batches(let after, let before):
          try db.first(Self.batchesTally, .integer(after), .integer(before), .flag(withHidden), row: { $0.tally(0) })
        case .files(let batch, let after, let before):
          try db.first(
            Self.stretchTally, .integer(batch), .integer(after), .integer(before), .flag(withHidden),
            row: { $0.tally(0) })
        }
      tally.count += rest?.count ?? 0
      tally.sum +|= rest?.sum ?? 0
    }
    return tally
  }

  static let batchesTally: StaticString = """
    SELECT tally(size) FROM file WHERE state = 'done' AND batch_id > ?1 AND batch_id < ?2 AND (?3 OR hidden IS NULL)
    """
  static let stretchTally: StaticString = """
    SELECT tally(size) FROM file
    WHERE state = 'done' AND batch_id = ?1 AND id > ?2 AND id < ?3 AND (?4 OR hidden IS NULL)
    """

  /// The number of done files for which the server reported nothing but success.
  func unverified(_ done: DoneSums) throws -> Int {
    let known = done.sums.reduce(0) { $0 +| $1.unverified }
    return try done.stretches.reduce(known) { sum, stretch in
      switch stretch {
      case .batches(let after, let before):
        try sum
          + (db.first(
            """
            SELECT count(*) FROM file f CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1
            WHERE f.state = 'done' AND f.batch_id > ?1 AND f.batch_id < ?2 AND r.confirmation = 'none'
            """, .integer(after), .integer(before)
          ) { $0.int(0) } ?? 0)
      case .files(let batch, let after, let before):
        try sum
          + (db.first(
            """
            SELECT count(*) FROM file f CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1
            WHERE f.state = 'done' AND f.batch_id = ?1 AND f.id > ?2 AND f.id < ?3 AND r.confirmation = 'none'
            """, .integer(batch), .integer(after), .integer(before)
          ) { $0.int(0) } ?? 0)
      }
    }
  }
}
