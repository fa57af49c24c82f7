import TransferLedger
import TransferModel
import TransferProtocols

/// Records what was appended to growing sources: copies it, and passes the copies to the ledger in pages. Used by one
/// thread.
final class SegmentWriter: RecordingSink {
  /// Copies that are recorded together: their folder is synced once for all of them.
  private static let copiesInPage = 64
  /// Sources that are looked up, and recorded, together.
  private static let pageSize = 2_000
  /// How often a source is examined again that is truncated or rewritten while it is copied.
  private static let patience = 3
  /// Names in one notice.
  private static let namesShown = 3

  private let ledger: Ledger
  private let target: AdmissionTarget
  private let transferProtocol: ProtocolInUse
  private let copies: StagedCopies
  private let notice: @Sendable (Notice) -> Void
  /// Sources to be looked up.
  private var found: [GrowingSource] = []
  private var inodes: Set<UInt64> = []
  private var page: [GrowingSource] = []
  private var copied = 0
  private var refused = AdmissionPage()
  /// Taken before the first copy.
  private var hold: StagedCopies.Hold?
  private var recorded = SourceAdmitter.Recorded()
  /// Sources that were truncated or rewritten.
  private var begunAgain: [NameBytes] = []

  init(
    _ ledger: Ledger, _ target: AdmissionTarget, _ transferProtocol: ProtocolInUse, _ copies: StagedCopies,
    notice: @escaping @Sendable (Notice) -> Void
  ) {
    (self.ledger, self.target, self.transferProtocol, self.copies) = (ledger, target, transferProtocol, copies)
    self.notice = notice
  }

  func take(_ file: FoundFile) throws(TransferError) {
    // Another name of a file in this page: its series is known when the page is recorded.
    if !inodes.insert(file.identity.inode).inserted {
      try flush()
      inodes = [file.identity.inode]
    }
    found.append(
      GrowingSource(
        path: NameBytes(Array(file.path)), key: NameBytes(Array(file.key)), file.identity, mode: file.mode,
        properties: file.properties ?? ObjectProperties(), root: file.root, .empty))
    if found.count >= Self.pageSize { try flush() }
  }

  /// Adds the sources that were found to the page. Most files have not changed, which shows without opening them: these
  /// are looked up together.
  private func examineFound() throws(TransferError) {
    let sources = found
    found = []
    let known = try ledger.read { [target] reader in
      try sources.map { try reader.growth(of: $0.key, $0.identity, for: target) }
    }
    for (source, known) in zip(sources, known) {
      var source = source
      if let same = GrowingFile.unchanged(source.identity, known) {
        source.finding = .unchanged(same)
        page.append(source)
      } else {
        try take(examined: try examine(&source), source)
      }
    }
  }

  private func take(examined: Examined, _ source: GrowingSource) throws(TransferError) {
    switch examined {
    case .found:
      page.append(source)
      if source.segment != nil { copied += 1 }
      if copied >= Self.copiesInPage { try record() }
    case .failed(let failure): try refuse(path: source.path, key: source.key, failure)
    case .changing:
      recorded.counts.busy += 1
      let reason = "it was truncated or rewritten while it was copied; push again later"
      notice(.skipped(path: source.path, reason: reason))
    }
  }

  func refuse(path: NameBytes, key: NameBytes, _ failure: Failure) throws(TransferError) {
    notice(.failed(path: path, failure))
    refused.append(path: path, key: key, failure)
    if refused.count >= Self.pageSize { try record() }
  }

  func finish(with seen: SourceCounts) throws(TransferError) -> SourceAdmitter.Recorded {
    try flush()
    recorded.counts.add(unrecorded: seen)
    if !begunAgain.isEmpty { notice(.remark(Self.remark(begunAgain))) }
    return recorded
  }

  private static func remark(_ paths: [NameBytes]) -> String {
    let names = paths.prefix(namesShown).map { "\"\($0.embedded)\"" }.joined(separator: ", ")
    let more = paths.count > namesShown ? " and \(paths.count - namesShown) more" : ""
    return "growing files that were truncated or rewritten, and begin a new series of segments: \(names)\(more)"
  }

  // MARK: - Examining

  private enum Examined {
    case found
    /// It was truncated or rewritten while it was copied, as often as it was tried.
    case changing
    case failed(Failure)
  }

  private func examine(_ source: inout GrowingSource) throws(TransferError) -> Examined {
    for _ in 0..<Self.patience {
      let file: SourceFile
      do throws(Failure) { file = try SourceFile(path: source.path, root: source.root) } catch { return .failed(error) }
      // Its name may lead to another file than the scan found.
      (source.identity, source.bornNs) = (file.identity, file.bornNs)
      let growing = GrowingFile(file, at: source.path, key: source.key, try known(source))
      let growth: GrowingFile.Growth
      do throws(Failure) { growth = try growing.growth() } catch { return .failed(error) }
      if let examined = try take(try continuable(growth, source), of: growing, &source) { return examined }
    }
    return .changing
  }

  private func known(_ source: GrowingSource) throws(TransferError) -> KnownGrowth {
    try ledger.read { [target] reader in try reader.growth(of: source.key, source.identity, for: target) }
  }

  /// A series whose next key is that of another file cannot be continued: the file begins a new one.
  private func continuable(
    _ growth: GrowingFile.Growth, _ source: GrowingSource
  ) throws(TransferError) -> GrowingFile.Growth {
    guard case .grown(let series) = growth else { return growth }
    let isStopped = try ledger.read { [target] reader in try reader.isStopped(series, for: target) }
    return isStopped ? .begun(after: try known(source).number, .stopped) : growth
  }

  /// nil if the source changed while it was copied.
  private func take(
    _ growth: GrowingFile.Growth, of growing: GrowingFile, _ source: inout GrowingSource
  ) throws(TransferError) -> Examined? {
    switch growth {
    case .empty: source.finding = .empty
    case .unchanged(let series): source.finding = .unchanged(series)
    case .grown, .begun:
      if let refusal = refusal(of: growth, source) { return .failed(refusal) }
      if hold == nil { hold = try copies.hold() }
      let copied: GrowingSource.Segment?
      do throws(Failure) { copied = try growing.copy(growth, to: copies) } catch {
        if error.isOfOneCopy { return .failed(error) }
        throw copies.notCopied(source.path, error)
      }
      guard let segment = copied else { return nil }
      source.finding = finding(growth, segment, source.path)
    }
    return .found
  }

  private func finding(
    _ growth: GrowingFile.Growth, _ segment: GrowingSource.Segment, _ path: NameBytes
  ) -> GrowingSource.Finding {
    switch growth {
    case .empty: return .empty
    case .unchanged(let series): return .unchanged(series)
    case .grown(let series): return .grown(after: series, segment)
    case .begun(let number, let why):
      if why == .truncated || why == .rewritten { begunAgain.append(path) }
      return .begun(after: number, why, segment)
    }
  }

  private func refusal(of growth: GrowingFile.Growth, _ source: GrowingSource) -> Failure? {
    guard let key = growth.key(of: source.key, nowMs: 0) else {
      return Failure(.policyLimit, "it is too long, or was begun again too often, for the names of segments")
    }
    return transferProtocol.refusal(ofKey: key)
  }

  // MARK: - Recording

  private func flush() throws(TransferError) {
    try examineFound()
    try record()
    inodes = []
  }

  private func record() throws(TransferError) {
    guard !page.isEmpty || refused.count > 0 else { return }
    let (sources, failures) = (page, refused)
    (page, refused, copied) = ([], AdmissionPage(), 0)
    if sources.contains(where: { $0.segment != nil }) { try copies.syncForAll() }
    let (failed, done) = try ledger.write { [target] tx in
      (try tx.admit(failures, to: target), try tx.admit(sources, to: target))
    }
    recorded.take(failed)
    recorded.take(done)
    for index in done.unknown {
      let reason = "the upload of a segment is unknown; see \"transfers report failures\""
      notice(.skipped(path: sources[index].path, reason: reason))
    }
    for index in done.taken {
      if let segment = sources[index].segment { copies.remove(segment.staged) }
      notice(.failed(path: sources[index].path, SourceAdmitter.isTakenByFile))
      recorded.failedBefore.insert(SourceAdmitter.isTakenByFile, of: sources[index].path)
    }
    for index in done.busy {
      if let segment = sources[index].segment { copies.remove(segment.staged) }
      notice(.skipped(path: sources[index].path, reason: "another process records it right now; push again later"))
    }
  }
}
