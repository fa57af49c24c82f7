import TransferLedger
package import TransferModel
package import TransferReports

/// What the time of a file, batch or run was spent on.
extension StoreReader {
  /// nil when there is no such row. Work in progress is counted until the current wall-clock time. Reads the attempts
  /// once, and keeps none in memory. Other requests to the host are only included with `countsOthers`.
  ///
  /// Throws `.usage` when attempts of it were pruned, because its parts can then not be determined.
  package func why(
    _ subject: WhySubject, _ clock: any TransferClock, countsOthers: Bool = true
  ) throws -> WhyFigures? {
    guard var row = try reader.whyRow(subject) else { return nil }
    try requireHistory(of: subject)
    let isAlive = try engine(clock).isAlive
    if case .run(let id) = subject, row.toMs == nil, !isAlive {
      // It crashed, and no other run has detected that yet.
      row.toMs = try reader.runLives(TimeSpan(.min, .max), only: id).first?.lastMs
      row.state = "crashed"
    }
    let toMs = row.toMs ?? clock.wallMs
    let window = TimeSpan(row.fromMs, max(row.fromMs, toMs))
    let runs = try runs(of: row, window).map { life in
      var life = life
      if life.isOpen, isAlive { life.lastMs = max(life.lastMs, toMs) }
      return life
    }
    var frame = WallFrame(window)
    frame.running = runs.map { TimeSpan($0.startedMs, $0.lastMs) }
    for life in runs where life.isCrashed || life.isOpen { frame.lastLifeMs[life.id] = life.lastMs }
    frame.asleep = try reader.sleeps(window)
    frame.decisions = try reader.decisions(subject)
    if case .file = subject { frame.isOneFile = true }
    let host = try reader.hostActivity(row, window, countsOthers: countsOthers)
    frame.hostWaits = host?.waits ?? []
    var (sweep, tally) = (WallSweep(frame), WhyTally(try inFlight(subject, clock)))
    try reader.attemptTraces(row) { attempt in
      sweep.add(attempt)
      tally.add(attempt, lastMs: frame.lastLifeMs[attempt.run] ?? window.toMs)
    }
    return WhyFigures(row, toMs: toMs, sweep.finish(), tally, runs: runs, host: host)
  }

  /// nil if nothing of it runs, or no live engine reports it.
  private func inFlight(_ subject: WhySubject, _ clock: any TransferClock) throws -> InFlight? {
    var filter = RowFilter()
    switch subject {
    case .file(let id): filter.files = [id.rawValue...id.rawValue]
    case .batch(let id): filter.batches = [id.rawValue...id.rawValue]
    case .run(let id): guard try newestRun()?.id == id else { return nil }
    }
    let bodies = try bodiesInFlight(filter, clock)
    return bodies.isEmpty ? nil : bodies.reduce(InFlight()) { $0 + $1.inFlight }
  }

  /// When a file, or its attempts, were deleted; nil if they were not, and for batches and runs.
  package func prunedFile(_ subject: WhySubject) throws -> PrunedRow? {
    if case .file(let id) = subject { return try reader.pruned(id) }
    return nil
  }

  private func requireHistory(of subject: WhySubject) throws {
    let pruned: Int64 =
      switch subject {
      case .file(let id): try reader.pruned(id) == nil ? 0 : 1
      case .batch(let id): try reader.prunedHistory(.batch(id), isSummed: false).attempts
      case .run(let id): try reader.prunedHistory(of: id).attempts
      }
    guard pruned > 0 else { return }
    throw TransferError(
      .usage, "analyse the time of", NameBytes("\(subject)"), cause: "its requests were pruned",
      remedy: "\"transfers report batches\" still includes its sums")
  }

  /// Files that were started and are at rest, longest wall time first, each with its parts. Only the files that are
  /// returned are analysed.
  package func slow(_ filter: RowFilter, limit: Int, _ clock: any TransferClock) throws -> [WhyFigures] {
    try reader.longestFiles(filter, limit: limit).compactMap { try why(.file($0), clock, countsOthers: false) }
  }

  private func runs(of row: WhyRow, _ window: TimeSpan) throws -> [RunLife] {
    if case .run(let id) = row.subject { return try reader.runLives(window, only: id) }
    return try reader.runLives(window)
  }
}
