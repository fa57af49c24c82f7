public import TransferLedger
public import TransferModel
public import TransferProtocols

/// Records the results of a source scan as files of one batch. Blocking.
public struct SourceAdmitter {
  /// What was recorded.
  public struct Recorded: Sendable, Hashable {
    /// nil if nothing had to be recorded.
    public var batch: BatchID?
    public var counts = SourceCounts()
    /// The added, queued, requeued and busy files.
    public var files = SelectedFiles()
  }

  let sources: ResolvedSources
  let destination: Destination
  let transferProtocol: ProtocolInUse
  let ownFiles: LedgerFiles
  /// The markers that show that sources are complete; nil if none are required.
  let marker: ReadyMarker?
  let plan: PlannedFiles?
  let rules: ObjectRules
  let notice: @Sendable (Notice) -> Void

  /// - Parameter ownFiles: files of the ledger, which are not sent if they are among the sources.
  /// - Parameter plan: selects files from the scan; nil for all.
  /// - Parameter rules: for the properties of objects.
  public init(
    _ sources: ResolvedSources, to destination: Destination, _ transferProtocol: ProtocolInUse,
    ownFiles: LedgerFiles, plan: PlannedFiles? = nil, marker: ReadyMarker? = nil, rules: ObjectRules = ObjectRules(),
    notice: @escaping @Sendable (Notice) -> Void
  ) {
    self.sources = sources
    self.destination = destination
    self.transferProtocol = transferProtocol
    self.ownFiles = ownFiles
    self.marker = marker
    self.plan = plan
    self.rules = rules
    self.notice = notice
  }

  /// Scans and records every file, in the ledger that `open` returns. Durable on return. Errors of the request as a
  /// whole are found before `open` is called. If the store fails midway, the files recorded so far stay, and adding
  /// again continues from there.
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
    // Duplicates are counted here: the ledger cannot distinguish them from other existing files.
    let again = try spool.replay(into: writer, repeats: false)
    var recorded = try writer.finish(with: seen)
    recorded.counts.repeated += again
    return recorded
  }

  /// Scans without recording anything, and passes every file that would be sent once, a page at a time.
  /// - Throws: as ``admit(open:)``, and errors thrown by `body`.
  /// - Returns: the counts of findings that would not be recorded.
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

  /// - Returns: the counts of findings that are not passed to the sink.
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
    /// Reused for each file to avoid allocations.
    private var key = NameBytes("")
    private(set) var seen = SourceCounts()
    /// Entries of the plan that were not found yet.
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

    /// Whether a source is complete, and is not a marker itself.
    private func isReady(_ path: BorrowedName, _ marker: ReadyMarker) -> Bool {
      let path = NameBytes(Array(path))
      guard !marker.isMarker(path.lastComponent.bytes) else { return false }
      if marker.isThere(for: path) { return true }
      // It exists, and waits for its marker like any other source: it is not missing.
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
      let properties = admitter.rules.properties(of: relative)
      try key.bytes.withUnsafeBufferPointer { key throws(TransferError) in
        try sink.take(
          path: path, key: UnsafeRawBufferPointer(key), identity, mode: mode, properties: properties)
      }
    }

    /// True without a plan. A file that changed since the plan was made is recorded as failed.
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

    /// Records files of the plan that the scan did not find as failed.
    func refuseMissing() throws(TransferError) {
      for (path, entry) in (planned ?? [:]).sorted(by: { $0.key < $1.key }) {
        try sink.refuse(path: path, key: entry.key, Failure(.sourceMissing, "it no longer exists, or is excluded now"))
      }
    }
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
