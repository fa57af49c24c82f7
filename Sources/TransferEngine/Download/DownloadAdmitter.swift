import CSys
public import TransferLedger
public import TransferModel
public import TransferProtocols

/// Records what is to be fetched, each server's files as files of one batch. Blocking.
public struct DownloadAdmitter {
  let folder: LocalFolder
  let spool: DownloadSpool

  /// - Parameter spool: checked.
  public init(_ spool: DownloadSpool, to folder: LocalFolder) { (self.spool, self.folder) = (spool, folder) }

  /// Records every file that does not stand in its place already with the digest that it has to have. Durable on
  /// return. When the store fails in the middle, what was recorded before stays, and adding again goes on from there.
  /// - Parameter target: the batch of a server's files.
  /// - Throws: `.usage` when another download that is not finished writes one of the files; errors of the store.
  public func admit(
    into ledger: Ledger, _ target: (WebOrigin) -> AdmissionTarget
  ) throws(TransferError) -> SourceAdmitter.Recorded {
    var recorded = SourceAdmitter.Recorded()
    recorded.counts.repeated = try spool.replay { page throws(TransferError) in
      let missing = page.filter { !isThere($0) }
      recorded.counts.unchanged += page.count - missing.count
      let startedNs = csys_boottime_ns()
      let byOrigin = groups(missing).map { (target($0.origin), $0.files) }
      let done = try ledger.write { tx in try byOrigin.map { try tx.admitDownloads($0.1, to: $0.0) } }
      for admission in done { recorded.add(admission) }
      if try ledger.read({ reader in try reader.newestRun() }).map({ $0.endedMs == nil }) ?? false {
        PageWriter.letEngineWrite(since: startedNs)
      }
    }
    return recorded
  }

  /// Gives every file once, with the row that ``admit(into:_:)`` would record: nil for what stands in its place.
  /// - Returns: how many came again.
  public func examine(
    _ body: (DownloadEntry, NewDownload?) throws(TransferError) -> Void
  ) throws(TransferError) -> Int {
    try spool.replay { page throws(TransferError) in
      for entry in page { try body(entry, isThere(entry) ? nil : download(entry)) }
    }
  }

  private func groups(_ page: [DownloadEntry]) -> [(origin: WebOrigin, files: [NewDownload])] {
    let byOrigin = Dictionary(grouping: page, by: \.url.origin)
    return spool.origins.compactMap { origin in byOrigin[origin].map { (origin, $0.map(download)) } }
  }

  private func download(_ entry: DownloadEntry) -> NewDownload {
    NewDownload(path: folder.path(of: entry.path), key: entry.url.key, expected: entry.expected)
  }

  /// The file is there and has the digest that it is to have. A size proves nothing.
  private func isThere(_ entry: DownloadEntry) -> Bool {
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
    counts.bytes += done.bytes
    files.append(done.files)
  }
}
