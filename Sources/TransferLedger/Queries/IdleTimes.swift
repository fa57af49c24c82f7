import TransferModel

/// Times in which a batch had ended, before files of it were retried.
extension LedgerReader {
  /// By batch, in chronological order. A batch is idle from the end of its last attempt to a retry, unless another of
  /// the selected files was not finished then. Reads the files of each batch once, however many retries there were.
  /// - Parameter decisions: those about files that the filter selects.
  func idleTimes(before decisions: [FileDecision], _ filter: RowFilter) throws -> [Int64: [TimeSpan]] {
    var retried: [Int64: [FileDecision]] = [:]
    for retry in decisions where retry.kind == .retried {
      let files = retry.files.map { [$0.lowerBound, $0.upperBound] }
      for batch in try db.rows(Self.batchesOfRanges, .text(try jsonText(files)), row: { $0.int64(0) }) {
        retried[batch, default: []].append(retry)
      }
    }
    return try Dictionary(
      uniqueKeysWithValues: retried.map { batch, decisions in
        var ofBatch = filter
        (ofBatch.sinceMs, ofBatch.untilMs, ofBatch.withinBatches) = (nil, nil, [batch])
        return (batch, try idleTimes(before: RetriesOfBatch(decisions), ofBatch: ofBatch))
      })
  }

  private func idleTimes(before retries: RetriesOfBatch, ofBatch: RowFilter) throws -> [TimeSpan] {
    let idle = try attemptSums(ofBatch).active.idle(before: retries.times)
    guard idle.contains(where: { $0 != nil }), let first = retries.times.first, let last = retries.times.last else {
      return []
    }
    var work = UnfinishedWork(at: retries)
    _ = try db.rows(Self.unfinished, ofBatch, .integer(first), .integer(last)) { row in
      work.add(row.int64(0), createdMs: row.int64(1), finishedMs: row.int64OrNil(2))
    }
    return Self.merged(zip(idle, work.isBusy).compactMap { span, isBusy in isBusy ? nil : span })
  }

  /// Two retries without an attempt between them end the same idle time, the second of them later. The spans are in the
  /// order of their ends.
  private static func merged(_ spans: [TimeSpan]) -> [TimeSpan] {
    spans.reduce(into: []) { found, span in
      if let last = found.last, span.fromMs <= last.toMs {
        found[found.count - 1] = TimeSpan(min(last.fromMs, span.fromMs), span.toMs)
      } else {
        found.append(span)
      }
    }
  }

  static let batchesOfRanges: StaticString = """
    SELECT DISTINCT f.batch_id FROM json_each(?1) r CROSS JOIN file f ON f.id BETWEEN r.value ->> 0 AND r.value ->> 1
    """
  /// The selected files that were not finished at all times from ?1 to ?2, with their end; NULL if there is none yet.
  static let unfinished: StaticString = """
    SELECT f.id, f.created_at, iif(f.state IN ('settling', 'pending', 'active', 'finishing'), NULL, f.finished_at)
    FROM file f
    WHERE {files} AND f.created_at <= ?2 AND f.state <> 'superseded'
      AND (f.state IN ('settling', 'pending', 'active', 'finishing') OR f.finished_at > ?1)
    """
}

/// The retries of files of a batch, in chronological order, and which of them was the last for a file.
struct RetriesOfBatch {
  let times: [Int64]
  /// The files from `bounds[i]` until before `bounds[i + 1]` were retried last by number `newest[i]`; -1 for none.
  private let bounds: [Int64]
  private let newest: [Int]

  init(_ decisions: [FileDecision]) {
    let retries = decisions.sorted { $0.atMs < $1.atMs }
    let bounds = Set(retries.flatMap { $0.files.flatMap { [$0.lowerBound, $0.upperBound + 1] } }).sorted()
    var newest = Array(repeating: -1, count: bounds.count)
    // From the last retry on. What has a number already is skipped: the next without one is at `next`, or after that.
    var next = Array(0...bounds.count)
    for number in retries.indices.reversed() {
      for range in retries[number].files {
        let end = bounds.firstIndex(reaching: range.upperBound + 1)
        var i = Self.free(&next, from: bounds.firstIndex(reaching: range.lowerBound))
        while i < end {
          (newest[i], next[i]) = (number, i + 1)
          i = Self.free(&next, from: i + 1)
        }
      }
    }
    (times, self.bounds, self.newest) = (retries.map(\.atMs), bounds, newest)
  }

  /// The number of the last retry of this file; nil if it was not retried.
  func last(of file: Int64) -> Int? {
    let after = bounds.firstIndex(reaching: file + 1)
    return after > 0 && newest[after - 1] >= 0 ? newest[after - 1] : nil
  }

  private static func free(_ next: inout [Int], from start: Int) -> Int {
    var i = start
    while next[i] != i {
      next[i] = next[next[i]]
      i = next[i]
    }
    return i
  }
}

/// At which retries of a batch a file was not finished.
struct UnfinishedWork {
  private let retries: RetriesOfBatch
  /// How many more such files there are at a retry than at the previous one.
  private var changes: [Int]

  init(at retries: RetriesOfBatch) {
    self.retries = retries
    changes = Array(repeating: 0, count: retries.times.count + 1)
  }

  /// A file counts only after its last retry: the row has only its last end.
  mutating func add(_ file: Int64, createdMs: Int64, finishedMs: Int64?) {
    let first = max(retries.times.firstIndex(reaching: createdMs), (retries.last(of: file) ?? -1) + 1)
    let end = finishedMs.map { retries.times.firstIndex(reaching: $0) } ?? retries.times.count
    guard first < end else { return }
    changes[first] += 1
    changes[end] -= 1
  }

  /// For each retry in order.
  var isBusy: [Bool] {
    var files = 0
    return changes.dropLast().map { change in
      files += change
      return files > 0
    }
  }
}

extension [Int64] {
  /// In ascending numbers, the index of the first that is at least `value`.
  fileprivate func firstIndex(reaching value: Int64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
