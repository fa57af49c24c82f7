import TransferModel

/// Records segments of growing files for one destination. Lives inside one transaction.
struct SegmentAdmitter {
  private let tx: LedgerTransaction
  private let target: AdmissionTarget
  private var batch: BatchID?
  private var result = PageAdmission()
  private var failed: [(file: FileID, batch: BatchID)] = []
  /// Some file of the ledger is unfinished, or has failed.
  private let hasUnfinished, hasFailed: Bool

  init(_ tx: LedgerTransaction, _ target: AdmissionTarget, batch: BatchID?) throws {
    (self.tx, self.target, self.batch) = (tx, target, batch)
    hasUnfinished = try tx.db.first(Self.anyUnfinished) { _ in true } ?? false
    hasFailed = try tx.db.first(Admitter.anyFailed) { _ in true } ?? false
  }

  mutating func admit(_ source: GrowingSource, _ index: Int) throws {
    let waiting = try takeEarlier(source, index)
    switch source.finding {
    case .empty: result.unchanged += 1
    case .unchanged(let series):
      let isKnown = series.identity == source.identity && series.path == source.path
      if !isKnown { _ = try tx.extend(series, source) }
      count(waiting)
    case .grown(let series, let segment):
      guard try isFree(series.key, series.number, segment) else { return result.taken.append(index) }
      guard try tx.extend(series, source).isApplied else { return result.busy.append(index) }
      try add(source, segment, series.id)
      result.changed += 1
    case .begun(let number, let beginning, let segment):
      let home = try tx.home(of: try openBatch()).destination
      guard try tx.db.newestSeries(home, source.key) == number else { return result.busy.append(index) }
      let next = GrowingSeries.number(after: number, nowMs: tx.wallMs)
      guard try isFree(source.key, next, segment) else { return result.taken.append(index) }
      let series = try tx.beginSeries(source, segment, next, at: home)
      let file = try add(source, segment, series)
      guard beginning != .first else { return }
      result.changed += 1
      try tx.recordEvent(
        "series", of: [file],
        detail: "series \(next) of \"\(source.key.embedded)\" begins: the file was \(beginning.rawValue)")
    }
  }

  mutating func finish() throws -> PageAdmission {
    if !failed.isEmpty {
      try tx.choose(failed.map(\.file).sorted())
      try tx.retryChosen(startsOver: false)
    }
    result.batch = batch
    if result.added > 0, let batch {
      try tx.db.run("UPDATE batch SET hidden = NULL WHERE id = ? AND hidden = 1", .id(batch))
    }
    return result
  }

  /// What earlier segments of an unchanged source do.
  private enum Waiting { case none, waiting, retried }

  private mutating func count(_ waiting: Waiting) {
    switch waiting {
    case .none: result.unchanged += 1
    case .waiting: result.queued += 1
    case .retried: result.requeued += 1
    }
  }

  /// Whether no file but a segment has the key of the segment.
  private func isFree(_ key: NameBytes, _ number: Int, _ segment: GrowingSource.Segment) throws -> Bool {
    guard let home = try tx.db.destination(at: target.batch.canonicalPlace),
      let key = GrowingSeries.key(key, number: number, start: segment.start)
    else { return true }
    return try tx.db.first(Self.liveQuery, .integer(home), .name(key)) { _ in true } == nil
  }

  @discardableResult
  private mutating func add(
    _ source: GrowingSource, _ segment: GrowingSource.Segment, _ series: Int64
  ) throws -> FileID {
    let batch = try openBatch()
    let home = try tx.home(of: batch)
    var identity = source.identity
    identity.size -= segment.start
    let number = try tx.db.first("SELECT key, number FROM series WHERE id = ?", .integer(series)) { row in
      (key: row.name(0), number: row.int(1))
    }
    guard let number, let key = GrowingSeries.key(number.key, number: number.number, start: segment.start) else {
      throw TransferError(.bug, "add", source.path, cause: "its series has no name for a segment")
    }
    let file = try tx.insert(
      NewFile(
        path: source.path, key: key, identity: identity, mode: source.mode, properties: source.properties,
        root: source.root), home, batch, generation: try tx.nextGeneration(home.destination, key), notBeforeMs: nil,
      isSettling: true)
    try tx.db.run(
      "INSERT INTO segment (file_id, series_id, start, digest) VALUES (?, ?, ?, ?)", .id(file), .integer(series),
      .integer(segment.start), .text(segment.digest.description))
    _ = try tx.settle(file, staged: segment.staged)
    result.added += 1
    result.bytes +|= identity.size
    result.files.insert(file, of: batch)
    return file
  }

  private mutating func openBatch() throws -> BatchID {
    if let batch { return batch }
    let opened = try tx.createBatch(target.batch, uid: target.uid)
    batch = opened
    return opened
  }

  /// Earlier segments of the source belong to this `add`, too: those that wait, and those that failed, which are
  /// retried. The source can be read: a row that says otherwise is superseded.
  private mutating func takeEarlier(_ source: GrowingSource, _ index: Int) throws -> Waiting {
    guard hasUnfinished || hasFailed, let home = try tx.db.destination(at: target.batch.canonicalPlace) else {
      return .none
    }
    var waiting = Waiting.none
    for path in paths(of: source) {
      for (one, isUnknown) in try tx.db.rows(
        Self.unfinished, .name(path), .integer(home), row: { (Self.numbers($0), $0.flag(2)) })
      {
        guard !isUnknown else {
          if result.unknown.last != index { result.unknown.append(index) }
          continue
        }
        result.files.insert(one.file, of: one.batch)
        waiting = .waiting
      }
      for one in try tx.db.rows(Self.failed, .name(path), .integer(home), row: Self.numbers)
      where !failed.contains(where: { $0.file == one.file }) {
        result.files.insert(one.file, of: one.batch)
        failed.append(one)
        waiting = .retried
      }
    }
    if try tx.db.first(Self.unreadable, .integer(home), .name(source.key), row: { _ in true }) == true {
      try tx.supersedeEnded(home, source.key)
    }
    return waiting
  }

  /// Its name, and the one that it had before it was renamed.
  private func paths(of source: GrowingSource) -> [NameBytes] {
    switch source.finding {
    case .empty, .begun: [source.path]
    case .unchanged(let series), .grown(let series, _):
      series.path == source.path ? [source.path] : [source.path, series.path]
    }
  }

  private static func numbers(_ row: SQLRow) -> (file: FileID, batch: BatchID) { (row.id(0), row.id(1)) }

  static let liveQuery: StaticString = """
    SELECT 1 FROM file WHERE destination_id = ? AND key = ? AND live = 1
      AND NOT EXISTS (SELECT 1 FROM segment WHERE file_id = file.id)
    """
  static let anyUnfinished: StaticString =
    "SELECT 1 FROM file WHERE path > x'' AND finished_at IS NULL AND is_download IS NULL LIMIT 1"
  static let unfinished: StaticString = """
    SELECT f.id, f.batch_id, f.state = 'unknown' FROM file f CROSS JOIN segment g ON g.file_id = f.id
    WHERE f.path = ? AND f.finished_at IS NULL AND f.is_download IS NULL AND f.destination_id = ?
    """
  static let failed: StaticString = """
    SELECT f.id, f.batch_id FROM file f CROSS JOIN segment g ON g.file_id = f.id
    WHERE f.path = ? AND f.state = 'failed' AND f.is_download IS NULL AND f.destination_id = ?
      AND f.staged IS NOT NULL AND f.hidden IS NULL
    """
  static let unreadable: StaticString = """
    SELECT 1 FROM file WHERE destination_id = ? AND key = ? AND live IS NULL AND state = 'failed' AND size IS NULL
    """
}
