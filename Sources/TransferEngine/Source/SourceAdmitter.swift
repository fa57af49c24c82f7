public import TransferLedger
public import TransferModel
public import TransferProtocols

/// Records what a scan of sources finds as files of one batch. Blocking.
public struct SourceAdmitter {
  /// What was recorded.
  public struct Recorded: Sendable, Hashable {
    /// nil when nothing had to be recorded.
    public var batch: BatchID?
    public var counts = SourceCounts()
    /// The added, the queued, the requeued and the busy ones.
    public var files = SelectedFiles()
  }

  let sources: ResolvedSources
  let destination: Destination
  let transferProtocol: ProtocolInUse
  let ownFiles: LedgerFiles
  /// The files that show that sources are complete; nil where none has to.
  let marker: ReadyMarker?
  let plan: PlannedFiles?
  let notice: @Sendable (Notice) -> Void

  /// - Parameter ownFiles: of the ledger, which is not sent when it lies among the sources.
  /// - Parameter plan: which of what is found is taken; nil for all.
  public init(
    _ sources: ResolvedSources, to destination: Destination, _ transferProtocol: ProtocolInUse,
    ownFiles: LedgerFiles, plan: PlannedFiles? = nil, marker: ReadyMarker? = nil,
    notice: @escaping @Sendable (Notice) -> Void
  ) {
    self.sources = sources
    self.destination = destination
    self.transferProtocol = transferProtocol
    self.ownFiles = ownFiles
    self.marker = marker
    self.plan = plan
    self.notice = notice
  }

  /// Scans and records every file, in the ledger that `open` gives. Durable on return. What makes the request as a
  /// whole wrong is found before `open` is called. When the store fails in the middle, what was recorded before stays,
  /// and adding again goes on where it stopped.
  /// - Throws: `.usage` when two files have the same key; `.noSource` and `.badList`; errors of the store.
  public func admit(
    open: () throws(TransferError) -> (ledger: Ledger, target: AdmissionTarget)
  ) throws(TransferError) -> Recorded {
    guard sources.canBeRefused || destination.mayJoinPaths else {
      let (ledger, target) = try open()
      let writer = PageWriter(ledger, target, notice: notice)
      let seen = try scan(into: writer)
      return try writer.finish(with: seen)
    }
    let (spool, seen) = try spool(watchesKeys: true)
    let (ledger, target) = try open()
    let writer = PageWriter(ledger, target, notice: notice)
    // What comes again is counted here: the ledger cannot tell it from one more file that is there already.
    let again = try spool.replay(into: writer, repeats: false)
    var recorded = try writer.finish(with: seen)
    recorded.counts.repeated += again
    return recorded
  }

  /// Scans without recording anything, and gives every file that would be sent, a page at a time, each only once.
  /// - Throws: as ``admit(open:)``, and what `body` throws.
  /// - Returns: what would not be recorded as work.
  public func examine(
    _ body: @escaping ([SourceCandidate]) throws(TransferError) -> Void
  ) throws(TransferError) -> SourceCounts {
    let examiner = SourceExaminer(notice: notice, body)
    guard sources.mayRepeat || destination.mayJoinPaths else {
      let seen = try scan(into: examiner)
      return try examiner.finish(with: seen)
    }
    let (spool, seen) = try spool(watchesKeys: true)
    let again = try spool.replay(into: examiner, repeats: false)
    var counts = try examiner.finish(with: seen)
    counts.repeated = again
    return counts
  }

  private func spool(watchesKeys: Bool) throws(TransferError) -> (spool: SourceSpool, seen: SourceCounts) {
    let spool = try SourceSpool(watchesKeys: watchesKeys)
    let seen = try scan(into: spool)
    do throws(TransferError) {
      try spool.check()
    } catch {
      throw error.advising(destination)
    }
    return (spool, seen)
  }

  /// - Returns: what was seen and does not go into the sink.
  private func scan(into sink: some FileSink) throws(TransferError) -> SourceCounts {
    let intake = SourceIntake(sink, self)
    try sources.scan { finding throws(TransferError) in try intake.take(finding) }
    try intake.refuseMissing()
    return intake.seen
  }

  private final class SourceIntake<Sink: FileSink> {
    private let sink: Sink
    private let admitter: SourceAdmitter
    private let isSingleFile: Bool
    /// Kept, so that its memory is used again for each file.
    private var key = NameBytes("")
    private(set) var seen = SourceCounts()
    /// Of the plan: what has not been found yet.
    private var planned: [NameBytes: PlannedFiles.Entry]?

    init(_ sink: Sink, _ admitter: SourceAdmitter) {
      self.sink = sink
      self.admitter = admitter
      isSingleFile = admitter.sources.isSingleFile
      planned = admitter.plan?.entries
    }

    func take(_ finding: SourceScanner.Finding) throws(TransferError) {
      switch finding {
      case .file(let path, let relative, let identity, let mode):
        try take(path, relative, identity, mode)
      case .excluded(let path, let rule):
        seen.excluded += 1
        seen.excludedBy[rule, default: 0] += 1
        admitter.notice(.excluded(path: path, rule: rule))
      case .special(let path, let kind):
        seen.special += 1
        admitter.notice(.skipped(path: path, reason: "\(kind) is not sent"))
      case .unreadable(let path, let relative, let failure):
        let key = admitter.destination.key(forRelativePath: relative, isSingleFile: false)
        try sink.refuse(path: path, key: key, failure)
      case .remark(let text): admitter.notice(.remark(text))
      }
    }

    /// Whether a source is complete, and no marker itself.
    private func isReady(_ path: BorrowedName, _ marker: ReadyMarker) -> Bool {
      let path = NameBytes(Array(path))
      guard !marker.isMarker(path.lastComponent.bytes) else { return false }
      if marker.isThere(for: path) { return true }
      // It is there, and waits for its marker like any other: it is not missing.
      planned?[path] = nil
      seen.notReady += 1
      return false
    }

    private func take(
      _ path: BorrowedName, _ relative: BorrowedName, _ identity: SourceIdentity, _ mode: UInt32
    ) throws(TransferError) {
      if admitter.ownFiles.contains(identity) {
        seen.special += 1
        return admitter.notice(
          .skipped(path: NameBytes(Array(path)), reason: "it belongs to the ledger of this upload"))
      }
      if let marker = admitter.marker, !isReady(path, marker) { return }
      key.bytes.removeAll(keepingCapacity: true)
      admitter.destination.appendKey(forRelativePath: relative, isSingleFile: isSingleFile, to: &key.bytes)
      guard try isPlanned(path, identity) else { return }
      if let failure = admitter.transferProtocol.refusal(ofKey: key) {
        return try sink.refuse(path: NameBytes(Array(path)), key: key, failure)
      }
      try key.bytes.withUnsafeBufferPointer { key throws(TransferError) in
        try sink.take(path: path, key: UnsafeRawBufferPointer(key), identity, mode: mode)
      }
    }

    /// Without a plan everything is. What changed since the plan was made is recorded as failed.
    private func isPlanned(_ path: BorrowedName, _ identity: SourceIdentity) throws(TransferError) -> Bool {
      guard let plan = admitter.plan else { return true }
      let name = NameBytes(Array(path))
      guard let entry = plan.entries[name] else {
        seen.excluded += 1
        seen.excludedBy["not in the plan", default: 0] += 1
        return false
      }
      planned?[name] = nil
      if entry.key == key, entry.isSame(as: identity) { return true }
      try sink.refuse(path: name, key: key, Failure(.sourceChanged, "it has changed since the plan was made"))
      return false
    }

    /// What the plan names and the scan did not find.
    func refuseMissing() throws(TransferError) {
      for (path, entry) in (planned ?? [:]).sorted(by: { $0.key < $1.key }) {
        try sink.refuse(path: path, key: entry.key, Failure(.sourceMissing, "it is gone, or left out now"))
      }
    }
  }
}

extension TransferError {
  /// Files that a destination cannot tell apart: what would.
  fileprivate func advising(_ destination: Destination) -> TransferError {
    guard kind == .usage, let advice = destination.wayToTellPaths else { return self }
    var error = self
    error.remedy = advice
    return error
  }
}
