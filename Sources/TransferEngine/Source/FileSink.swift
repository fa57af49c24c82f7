import CSys
import TransferLedger
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file that was found for a destination. Its names are valid only during the call that receives it.
struct FoundFile {
  var path: BorrowedName
  /// How much of the path may lead through symbolic links (``SourceRoot``).
  var root: Int
  var key: BorrowedName
  var identity: SourceIdentity
  var mode: UInt32
  /// The properties that rules set for its object; nil for none.
  var properties: ObjectProperties?
  /// See ``NewFile/isCompared``.
  var isCompared: Bool
}

/// Receives the files of a scan individually.
protocol FileSink: AnyObject {
  func take(_ found: FoundFile) throws(TransferError)
  func refuse(path: NameBytes, key: NameBytes, _ failure: Failure) throws(TransferError)
}

/// A sink that records the files in a ledger.
protocol RecordingSink: FileSink {
  /// The totals, including what the scan found but did not pass to this sink; durable on return.
  func finish(with seen: SourceCounts) throws(TransferError) -> SourceAdmitter.Recorded
}

/// Passes files to the ledger, one page per transaction, while the scan continues. Used by one thread.
final class PageWriter: RecordingSink {
  /// Files per transaction: enough that a million of them take seconds, and few enough that an engine sharing the
  /// ledger hardly waits and memory stays constant.
  private static let pageSize = 2_000
  private static let pageBytes = 1 << 20
  /// Maximum number of pages waiting to be written while the next is filled.
  private static let inFlightLimit = 3

  private let ledger: Ledger
  private let target: AdmissionTarget
  private let notice: @Sendable (Notice) -> Void
  private let answers = Mailbox<(AdmissionPage, Result<PageAdmission, TransferError>)>()
  private var page = AdmissionPage()
  /// Files whose content was compared, to be admitted again.
  private var compared = AdmissionPage()
  private var hasCompared = false
  private var inFlight = 0
  private var recorded = SourceAdmitter.Recorded()
  private var replacedOthers = 0
  private var resentLost = 0
  private var renames = RenamedSources()

  init(_ ledger: Ledger, _ target: AdmissionTarget, notice: @escaping @Sendable (Notice) -> Void) {
    self.ledger = ledger
    self.target = target
    self.notice = notice
  }

  func take(_ found: FoundFile) throws(TransferError) {
    page.append(
      path: found.path, key: found.key, found.identity, mode: found.mode, properties: found.properties,
      isCompared: found.isCompared, root: found.root)
    if page.count >= Self.pageSize || page.byteCount >= Self.pageBytes { try submit() }
  }

  func refuse(path: NameBytes, key: NameBytes, _ failure: Failure) throws(TransferError) {
    notice(.failed(path: path, failure))
    page.append(path: path, key: key, failure)
    if page.count >= Self.pageSize { try submit() }
  }

  func finish(with seen: SourceCounts) throws(TransferError) -> SourceAdmitter.Recorded {
    if page.count > 0 { try submit() }
    while inFlight > 0 || compared.count > 0 { if inFlight > 0 { try collect() } else { try submitCompared() } }
    recorded.counts.add(unrecorded: seen)
    if replacedOthers > 0 {
      let files = replacedOthers == 1 ? "1 file replaces an object" : "\(replacedOthers) files replace objects"
      notice(.remark("\(files) at the destination that a file with another path became"))
    }
    if resentLost > 0 {
      let files = resentLost == 1 ? "1 file is" : "\(resentLost) files are"
      notice(.remark("\(files) sent again: the destination no longer has what was sent (transfers prove --remote)"))
    }
    if let text = renames.text { notice(.remark(text)) }
    return recorded
  }

  private func submit() throws(TransferError) {
    let full = page
    page = AdmissionPage()
    try submit(full)
    if compared.count >= Self.pageSize || compared.byteCount >= Self.pageBytes { try submitCompared() }
  }

  private func submitCompared() throws(TransferError) {
    let full = compared
    compared = AdmissionPage()
    try submit(full)
  }

  private func submit(_ scanned: AdmissionPage) throws(TransferError) {
    var page = scanned
    if let removal = target.removal { page.folders = SourcePlaces(removal).folders(of: page) }
    page.linkedFolders = FolderLinks.folders(of: page)
    try write(page)
  }

  private func write(_ page: AdmissionPage) throws(TransferError) {
    let (target, answers) = (target, answers)
    inFlight += 1
    let startedNs = csys_boottime_ns()
    ledger.write({ tx in try tx.admit(page, to: target) }, then: { answers.put((page, $0)) })
    guard try ledger.read({ reader in try reader.newestRun() }).map({ $0.endedMs == nil }) ?? false else {
      while inFlight >= Self.inFlightLimit { try collect() }
      return
    }
    while inFlight > 0 { try collect() }
    Self.letEngineWrite(since: startedNs)
  }

  /// Pauses for a quarter of the time that a page took, because SQLite's locking is not fair and an engine may be
  /// waiting for the ledger.
  static func letEngineWrite(since startedNs: Int64) {
    usleep(UInt32(min(500_000, max(1_000, (csys_boottime_ns() - startedNs) / 4_000))))
  }

  private func collect() throws(TransferError) {
    for (page, result) in answers.take() ?? [] {
      inFlight -= 1
      let done = try result.get()
      count(page, done)
      for moved in done.moved { try compare(moved, page) }
    }
  }

  /// Outside of a transaction, because the whole file is read.
  private func compare(_ moved: MovedFile, _ page: AdmissionPage) throws(TransferError) {
    if !hasCompared {
      hasCompared = true
      notice(
        .remark(
          "some files that were sent have a new ctime or device: their content is compared with what was sent"))
    }
    let content = try ledger.read { reader in try reader.sentContent(of: moved.file) }
    let (outcome, now) = ContentCheck.outcome(
      of: page.path(moved.index), root: page.root(moved.index), moved, content)
    guard let identity = now ?? page.identity(moved.index) else { return }
    compared.append(moved.index, of: page, identity, outcome)
  }

  private func count(_ page: AdmissionPage, _ done: PageAdmission) {
    recorded.take(done)
    replacedOthers += done.replacedOthers
    resentLost += done.resentLost
    for one in done.onlyCopies { refuse(page.path(one.index), .replacing(one)) }
    for one in done.renamed { renames.take(one, now: page.path(one.index)) }
    for index in done.unknown {
      notice(.skipped(path: page.path(index), reason: "its last upload is unknown; see \"transfers report failures\""))
    }
    for one in done.uncertain {
      let reason =
        "its cancelled upload may have arrived; look at the server, then decide with \"transfers resolve \(one.file)\""
      notice(.skipped(path: page.path(one.index), reason: reason))
      recorded.failedBefore.insert(Failure(.protoLostAnswer, reason), of: page.path(one.index))
    }
    for index in done.taken { refuse(page.path(index), SourceAdmitter.isTakenBySegment) }
    for index in done.busy {
      notice(
        .skipped(path: page.path(index), reason: "an older version is being sent right now; push again later"))
    }
  }

  private func refuse(_ path: NameBytes, _ failure: Failure) {
    notice(.failed(path: path, failure))
    recorded.failedBefore.insert(failure, of: path)
  }
}

extension SourceAdmitter {
  /// Nothing is recorded of it: it would be another generation of the segment.
  static let isTakenBySegment = Failure(
    .sourceName,
    "its key at the destination is that of a segment of a growing file, which it would replace; rename it, exclude it, or send it to another folder"
  )
  static let isTakenByFile = Failure(
    .sourceName,
    "another file has the key of its next segment at the destination; push again: it begins a new series"
  )
}

extension Failure {
  /// Nothing is recorded of it: it would be the next generation of that file.
  package static func replacing(_ one: OnlyCopy) -> Failure {
    guard !one.isSamePath else {
      return Failure(
        .sourceName,
        "a symbolic link in its path was replaced since \(one.file) was sent, whose source was deleted or may have been: it would replace what may be the only copy; send it elsewhere, or \(one.givingUp)"
      )
    }
    let (what, remedy) =
      switch one.removal {
      case .done: ("whose source was deleted: it would replace the only copy", one.givingUp)
      case .pending:
        (
          "whose source is being deleted, or may have been when a run was killed: it would replace the only copy",
          "push it again after \"transfers run\" has ended that"
        )
      case .skipped, .failed:
        ("whose source a killed run may have deleted: it would replace what may be the only copy", one.givingUp)
      }
    return Failure(
      .sourceName,
      "its object is that of \(one.file) (\"\(one.path.embedded)\"), \(what); send it elsewhere, or \(remedy)")
  }
}

extension OnlyCopy {
  fileprivate var givingUp: String { "give that one up with \"transfers rm \(file)\"" }
}

extension SourceAdmitter.Recorded {
  mutating func take(_ done: PageAdmission) {
    batch = done.batch ?? batch
    counts.added += done.added
    counts.changed += done.changed
    counts.unchanged += done.unchanged
    counts.staying += done.staying
    counts.queued += done.queued
    counts.busy += done.busy.count
    counts.requeued += done.requeued
    files.append(done.files)
    failedBefore.append(done.failedBefore)
    counts.repeated += done.repeated
    counts.unknown += done.unknown.count + done.uncertain.count
    counts.failed += done.failed + done.taken.count + done.onlyCopies.count
    counts.settling += done.settling
    counts.bytes +|= done.bytes
  }
}
