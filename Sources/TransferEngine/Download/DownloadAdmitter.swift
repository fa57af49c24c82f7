import CSys
public import TransferLedger
public import TransferModel
public import TransferProtocols

/// Records files to fetch, one batch for each server. Blocking.
public struct DownloadAdmitter {
  let spool: DownloadSpool
  let folder: LocalFolder
  /// One batch for each server of the spool.
  let batches: [DownloadOrigin: NewBatch]
  private let overwrites: Bool

  /// - Parameter spool: already checked.
  public init(_ spool: DownloadSpool, to folder: LocalFolder, _ batches: [DownloadOrigin: NewBatch]) {
    (self.spool, self.folder, self.batches) = (spool, folder, batches)
    overwrites = batches.values.contains { $0.settings.download?.overwrites ?? false }
  }

  /// Records every file that is not recorded yet. Durable on return. If the store fails midway, the files recorded so
  /// far stay, and adding again continues from there.
  /// - Throws: `.usage` before anything is recorded if another unfinished download writes one of the files; errors of
  ///   the store.
  package func admit(
    into ledger: Ledger, since mark: AddedFiles.Mark, wallMs: Int64
  ) throws(TransferError) -> SourceAdmitter.Recorded {
    var present: Set<Int> = []
    try examine(ledger, nowMs: wallMs) { number, _, standing in
      if standing == .unchanged { present.insert(number) }
    }
    let targets = batches.mapValues { AdmissionTarget($0, since: mark, wallMs: wallMs) }
    var (recorded, number) = (SourceAdmitter.Recorded(), 0)
    recorded.counts.unchanged = present.count
    recorded.counts.repeated = try spool.replay { page throws(TransferError) in
      let missing = page.indices.filter { !present.contains(number + $0) }.map { page[$0] }
      number += page.count
      let startedNs = csys_boottime_ns()
      let groups = groups(missing, targets)
      let done = try ledger.write { tx in try groups.map { try tx.admitDownloads($0.files, to: $0.target) } }
      for admission in done { recorded.add(admission) }
      if try ledger.read({ reader in try reader.newestRun() }).map({ $0.endedMs == nil }) ?? false {
        PageWriter.letEngineWrite(since: startedNs)
      }
    }
    return recorded
  }

  /// Passes every file once, with its number and the action that ``admit(into:since:wallMs:)`` would take. For
  /// `unchanged` files, which exist already, it would do nothing.
  /// - Parameter ledger: nil for an empty ledger.
  /// - Returns: the number of duplicates.
  /// - Throws: `.usage` if ``admit(into:since:wallMs:)`` would throw it.
  @discardableResult
  public func examine(
    _ ledger: Ledger?, nowMs: Int64, _ body: (Int, DownloadEntry, SyncStatus) throws(TransferError) -> Void
  ) throws(TransferError) -> Int {
    var number = 0
    return try spool.replay { page throws(TransferError) in
      for entry in page {
        try body(number, entry, try standing(of: entry, ledger, nowMs: nowMs))
        number += 1
      }
    }
  }

  private func standing(
    of entry: DownloadEntry, _ ledger: Ledger?, nowMs: Int64
  ) throws(TransferError) -> SyncStatus {
    guard let batch = batches[entry.url.origin] else { preconditionFailure("a server without a batch") }
    let file = download(entry)
    if let owner = Ledger.ledger(owning: file.path) {
      throw TransferError(
        .usage, "fetch", file.path, cause: "this is the name of a file of the ledger \"\(owner)\"",
        remedy: "another folder or name")
    }
    let known = try ledger?.read { try $0.standing(of: file, in: batch, nowMs: nowMs) } ?? .new
    if known == .queued { return known }
    if hasItsDigest(entry) { return .unchanged }
    // We fetched it, and it must not be replaced.
    return known == .changed && !overwrites && folder.holds(entry.path) ? .unchanged : known
  }

  private func groups(
    _ page: [DownloadEntry], _ targets: [DownloadOrigin: AdmissionTarget]
  ) -> [(target: AdmissionTarget, files: [NewDownload])] {
    let byOrigin = Dictionary(grouping: page, by: \.url.origin)
    return spool.origins.compactMap { origin in
      guard let files = byOrigin[origin], let target = targets[origin] else { return nil }
      return (target, files.map(download))
    }
  }

  private func download(_ entry: DownloadEntry) -> NewDownload {
    var file = NewDownload(path: folder.path(of: entry.path), key: entry.url.key, expected: entry.expected)
    if spool.ignoresCase, !entry.url.isFolder { file.folded = folder.path(of: entry.path.caseFolded) }
    // A command supplies a single URL for a file.
    if batches[entry.url.origin]?.settings.download?.urlCommand.isEmpty == false { file.expected.mirrors = [] }
    return file
  }

  /// The file exists and has the expected digest. An equal size proves nothing.
  private func hasItsDigest(_ entry: DownloadEntry) -> Bool {
    guard let digest = entry.expected.strongestDigest,
      let file = try? SourceFile(path: folder.path(of: entry.path)),
      file.identity.size == entry.expected.size ?? file.identity.size
    else { return false }
    let whole = ByteRange(offset: 0, length: file.identity.size)
    return (try? file.digests(of: whole, [digest.algorithm], .never)[digest.algorithm]) == digest
  }
}

extension SourceAdmitter.Recorded {
  fileprivate mutating func add(_ done: PageAdmission) {
    batch = batch ?? done.batch
    counts.added += done.added
    counts.queued += done.queued
    counts.requeued += done.requeued
    counts.repeated += done.repeated
    counts.bytes +|= done.bytes
    files.append(done.files)
  }
}
