public import TransferLedger
public import TransferModel
import TransferProtocols

/// How one destination uses a scan: it determines the keys, the properties of objects, and which files are recorded.
public struct AdmissionLane: Sendable {
  let destination: Destination
  let transferProtocol: ProtocolInUse
  let plan: PlannedFiles?
  let rules: ObjectRules
  /// Leaves out files that the destination has; nil for none.
  public var known: KnownFilter?

  /// - Parameter plan: selects files from the scan; nil for all.
  /// - Parameter rules: for the properties of objects.
  package init(
    to destination: Destination, _ transferProtocol: ProtocolInUse, plan: PlannedFiles? = nil,
    rules: ObjectRules = ObjectRules()
  ) {
    (self.destination, self.transferProtocol, self.plan, self.rules) = (destination, transferProtocol, plan, rules)
  }
}

/// Records the results of a source scan as files of one batch for each destination. Blocking.
public struct SourceAdmitter {
  /// What was recorded.
  public struct Recorded: Sendable, Hashable {
    /// nil if nothing had to be recorded.
    public var batch: BatchID?
    public var counts = SourceCounts()
    /// The added, queued, requeued and busy files.
    package var files = SelectedFiles()
    /// Failures without a new row.
    package var failedBefore = EarlierFailures()
  }

  let sources: ResolvedSources
  let lanes: [AdmissionLane]
  let ownFiles: OwnFiles
  /// The markers that show that sources are complete; nil if none are required.
  let marker: ReadyMarker?
  let notice: @Sendable (Notice) -> Void

  /// - Parameter lanes: one for each destination.
  /// - Parameter ownFiles: are not sent if they are among the sources.
  public init(
    _ sources: ResolvedSources, _ lanes: [AdmissionLane], ownFiles: OwnFiles, marker: ReadyMarker? = nil,
    notice: @escaping @Sendable (Notice) -> Void
  ) {
    self.sources = sources
    self.lanes = lanes
    self.ownFiles = ownFiles
    self.marker = marker
    self.notice = notice
  }

  /// Scans once and records every file for every destination, in the ledger that `open` returns. Durable on return.
  /// Errors of the request as a whole are found before `open` is called. If the store fails midway, the files recorded
  /// so far stay, and adding again continues from there.
  /// - Parameter open: returns one target for each lane.
  /// - Throws: `.usage` when two files have the same key; `.noSource` and `.badList`; errors of the store.
  /// - Returns: what was recorded for each lane.
  public func admit(
    open: () throws(TransferError) -> (ledger: Ledger, targets: [AdmissionTarget])
  ) throws(TransferError) -> [Recorded] {
    try admit { () throws(TransferError) in
      let (ledger, targets) = try open()
      return targets.map { PageWriter(ledger, $0, notice: notice) }
    }
  }

  /// The same for sources that grow: records what was appended to them since they were last recorded, as segments with
  /// copies beside the ledger.
  public func admitSegments(
    _ copies: StagedCopies, open: () throws(TransferError) -> (ledger: Ledger, targets: [AdmissionTarget])
  ) throws(TransferError) -> [Recorded] {
    try admit { () throws(TransferError) in
      let (ledger, targets) = try open()
      return zip(targets, lanes).map { target, lane in
        SegmentWriter(ledger, target, lane.transferProtocol, copies, notice: notice)
      }
    }
  }

  private func admit(
    _ writers: () throws(TransferError) -> [some RecordingSink]
  ) throws(TransferError) -> [Recorded] {
    guard sources.canBeRefused || mayJoinPaths else {
      let writers = withoutKnown(try writers())
      let seen = try scan(into: writers)
      return try Self.each(writers.indices) { n throws(TransferError) in try writers[n].finish(with: seen[n]) }
    }
    let (spools, seen) = try spool(watchesKeys: true)
    let writers = withoutKnown(try writers())
    return try Self.each(writers.indices) { n throws(TransferError) in
      // Duplicates are counted here: the ledger cannot distinguish them from other existing files.
      let again = try spools[n].replay(into: writers[n], repeats: false)
      var recorded = try writers[n].finish(with: seen[n])
      recorded.counts.repeated += again
      return recorded
    }
  }

  /// Scans once without recording anything, and passes every file that would be sent once, a page at a time.
  /// - Parameter body: takes the number of a lane and a page of its files.
  /// - Throws: as ``admit(open:)``, and errors thrown by `body`.
  /// - Returns: for each lane, the counts of findings that would not be recorded.
  public func examine(
    _ body: @escaping (Int, [SourceCandidate]) throws(TransferError) -> Void
  ) throws(TransferError) -> [SourceCounts] {
    let examiners = lanes.indices.map { n in
      SourceExaminer(notice: notice) { page throws(TransferError) in try body(n, page) }
    }
    let sinks = withoutKnown(examiners)
    guard sources.mayRepeat || mayJoinPaths else {
      let seen = try scan(into: sinks)
      return try Self.each(lanes.indices) { n throws(TransferError) in
        try examiners[n].finish(with: sinks[n].seen(seen[n]))
      }
    }
    let (spools, seen) = try spool(watchesKeys: true)
    return try Self.each(lanes.indices) { n throws(TransferError) in
      let again = try spools[n].replay(into: sinks[n], repeats: false)
      var counts = try examiners[n].finish(with: sinks[n].seen(seen[n]))
      counts.repeated = again
      return counts
    }
  }

  private func withoutKnown<Sink: FileSink>(_ sinks: [Sink]) -> [KnownSink<Sink>] {
    zip(sinks, lanes).map { KnownSink($0, $1.known, notice: notice) }
  }

  private var mayJoinPaths: Bool { lanes.contains { $0.destination.mayJoinPaths } }

  private func spool(watchesKeys: Bool) throws(TransferError) -> (spools: [SourceSpool], seen: [SourceCounts]) {
    let spools = try Self.each(lanes.indices) { _ throws(TransferError) in try SourceSpool(watchesKeys: watchesKeys) }
    let seen = try scan(into: spools)
    for (spool, lane) in zip(spools, lanes) {
      do throws(TransferError) {
        try spool.check()
      } catch {
        throw error.advising(lane.destination)
      }
    }
    return (spools, seen)
  }

  private static func each<Value>(
    _ numbers: Range<Int>, _ body: (Int) throws(TransferError) -> Value
  ) throws(TransferError) -> [Value] {
    var values: [Value] = []
    for number in numbers { values.append(try body(number)) }
    return values
  }

  /// - Returns: for each lane, the counts of findings that are not passed to its sink.
  private func scan(into sinks: [some FileSink]) throws(TransferError) -> [SourceCounts] {
    let intake = SourceIntake(sinks, self)
    try sources.scan { finding throws(TransferError) in try intake.take(finding) }
    return try intake.finish()
  }
}

extension TransferError {
  /// Adds a remedy for files whose keys the destination cannot distinguish.
  fileprivate func advising(_ destination: Destination) -> TransferError {
    guard kind == .usage, let advice = destination.wayToTellPaths else { return self }
    var error = self
    error.remedy = advice
    return error
  }
}
