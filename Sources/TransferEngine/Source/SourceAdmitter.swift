public import TransferLedger
public import TransferModel
public import TransferProtocols

/// Records what a scan of sources finds as files of one batch, a page at a time. Blocking.
public struct SourceAdmitter: Sendable {
  /// What was recorded.
  public struct Counts: Sendable, Hashable {
    public var added = 0
    /// Of the added: those that take the place of an older version.
    public var changed = 0
    public var unchanged = 0
    /// Already waiting or in work, from an earlier batch.
    public var queued = 0
    public var unknown = 0
    /// Could not be read or cannot be expressed at the destination; recorded as failed.
    public var failed = 0
    /// Not regular files.
    public var special = 0
    public var excluded = 0
    /// Of the added, in bytes.
    public var bytes: Int64 = 0

    public init() {}
  }

  /// Files in one transaction: large enough that a million of them take seconds, small enough for a flat memory.
  private static let pageSize = 1_000

  let ledger: Ledger
  let batch: BatchID
  let uploadProtocol: any UploadProtocol
  let key: @Sendable (_ relative: NameBytes, _ isSingle: Bool) -> NameBytes
  let notice: @Sendable (SourceNotice) -> Void
  private let ownFiles: LedgerFiles

  /// - Parameter key: the key at the destination for a path relative to its source.
  public init(
    ledger: Ledger, batch: BatchID, uploadProtocol: any UploadProtocol,
    key: @escaping @Sendable (_ relative: NameBytes, _ isSingle: Bool) -> NameBytes,
    notice: @escaping @Sendable (SourceNotice) -> Void
  ) {
    self.ledger = ledger
    self.batch = batch
    self.uploadProtocol = uploadProtocol
    self.key = key
    self.notice = notice
    ownFiles = LedgerFiles(ledger.path)
  }

  /// Scans `sources` and records every file. Durable on return. When it throws, what was recorded before stays, and
  /// adding again goes on where it stopped.
  /// - Throws: `.noSource` for a source that is not there, `.usage` when two sources have the same key; errors of the store.
  public func admit(
    _ sources: [NameBytes], rules: PathRules, followsSymlinks: Bool
  ) throws(TransferError) -> Counts {
    try checkSources(sources, rules, followsSymlinks)
    let page = Page()
    for source in sources {
      let scanner = SourceScanner(rules: rules, followsSymlinks: followsSymlinks) { finding throws(TransferError) in
        take(finding, source, page)
        if page.count >= Self.pageSize { try write(page) }
      }
      try scanner.scan(source)
    }
    try write(page)
    return page.counts
  }

  private final class Page {
    var files: [NewFile] = []
    var refused: [(path: NameBytes, key: NameBytes, failure: Failure)] = []
    var counts = Counts()
    var count: Int { files.count + refused.count }
  }

  private func take(_ finding: SourceScanner.Finding, _ source: NameBytes, _ page: Page) {
    switch finding {
    case .file(let path, _, let identity, _) where ownFiles.contains(identity):
      page.counts.special += 1
      notice(.skipped(path: path, reason: "it belongs to the ledger of this upload"))
    case .file(let path, let relative, let identity, let mode):
      let key = key(relative, path == SourceScanner.absolute(source))
      if let failure = uploadProtocol.refusal(ofKey: key) {
        page.refused.append((path, key, failure))
      } else {
        page.files.append(NewFile(path: path, key: key, identity: identity, mode: mode))
      }
    case .excluded(let path, let rule):
      page.counts.excluded += 1
      notice(.excluded(path: path, rule: rule))
    case .special(let path, let kind):
      page.counts.special += 1
      notice(.skipped(path: path, reason: "\(kind) is not sent"))
    case .unreadable(let path, let relative, let failure):
      page.refused.append((path, key(relative, false), failure))
    }
  }

  private func write(_ page: Page) throws(TransferError) {
    guard page.count > 0 else { return }
    let (files, refused, batch) = (page.files, page.refused, batch)
    let admissions = try ledger.write { tx in
      for entry in refused {
        _ = try tx.admitFailed(
          path: entry.path, key: entry.key, code: entry.failure.code, message: entry.failure.message, to: batch)
      }
      return try files.map { try tx.admit($0, to: batch) }
    }
    for (file, admission) in zip(files, admissions) { count(file, admission, &page.counts) }
    for entry in refused { notice(.failed(path: entry.path, entry.failure)) }
    page.counts.failed += refused.count
    page.files = []
    page.refused = []
  }

  private func count(_ file: NewFile, _ admission: Admission, _ counts: inout Counts) {
    switch admission {
    case .added(_, let superseded):
      counts.added += 1
      counts.bytes += file.identity.size
      if superseded != nil { counts.changed += 1 }
    case .unchanged: counts.unchanged += 1
    case .queued: counts.queued += 1
    case .unknown:
      counts.unknown += 1
      notice(.skipped(path: file.path, reason: "its last upload is unknown; see \"transfers report failures\""))
    case .busy:
      counts.queued += 1
      notice(.skipped(path: file.path, reason: "an older version is being sent right now; push again later"))
    }
  }

  /// Every source exists, and no two of them give the same key: an error before anything is recorded.
  private func checkSources(
    _ sources: [NameBytes], _ rules: PathRules, _ followsSymlinks: Bool
  ) throws(TransferError) {
    guard sources.count > 1 else { return }
    var owners: [NameBytes: NameBytes] = [:]
    for source in sources {
      let scanner = SourceScanner(rules: rules, followsSymlinks: followsSymlinks) { finding throws(TransferError) in
        guard case .file(let path, let relative, _, _) = finding else { return }
        let key = key(relative, path == SourceScanner.absolute(source))
        guard let other = owners.updateValue(path, forKey: key), other != path else { return }
        throw TransferError(
          .usage, "add", path, cause: "it has the same key \"\(key)\" as \"\(other)\"",
          remedy: "push the sources one by one to different prefixes")
      }
      try scanner.scan(source)
    }
  }
}

/// What a scan tells people.
public enum SourceNotice: Sendable {
  case excluded(path: NameBytes, rule: String)
  case skipped(path: NameBytes, reason: String)
  case failed(path: NameBytes, Failure)
}
