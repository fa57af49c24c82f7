public import TransferModel

extension LedgerTransaction {
  /// Records each file of `page` unless the ledger shows that there is nothing to do, and their batch with the first
  /// that needs a row. The natural key is the destination and the remote key: a done file with the same identity is
  /// unchanged; another identity is the next generation. A failed file is retried if it would be recorded in the same
  /// way now; otherwise the next generation supersedes it, so that each key has one current row. A source that cannot
  /// be sent gets a `failed` row unless the newest row of its key says the same already, so that a job that runs every
  /// minute does not accumulate them.
  /// - Throws: `.usage` if two sources of one `add` have the same key, or the named batch has another destination or
  ///   other settings.
  public func admit(_ page: AdmissionPage, to target: AdmissionTarget) throws -> PageAdmission {
    var admitter = try Admitter(self, target, batch: try batch(of: target))
    let properties = try page.properties.map { try jsonText($0.values) }
    admitter.linkedFolders = page.linkedFolders
    var failures = page.failures.makeIterator()
    var result = PageAdmission()
    try page.forEach { index, entry, path, key in
      if let identity = entry.identity {
        admitter.properties = entry.properties < 0 ? nil : properties[entry.properties]
        (admitter.isCompared, admitter.root) = (entry.isCompared, entry.root)
        let admission = try admitter.admit(path, key, identity, entry.mode, entry.outcome)
        result.count(admission, index, identity.size)
        if case .added(let file, superseded: nil) = admission, let past = try renamed(file, identity, target) {
          result.renamed.append(RenamedSource(index: index, file: past.id, path: past.path))
        }
        if target.batch.settings.after != nil, case .unchanged(let file) = admission, try !isToGo(file) {
          result.staying += 1
        }
      } else if let failure = failures.next() {
        try admitter.fail(path, key, failure)
        result.failed += 1
      }
    }
    try admitter.finish()
    result.batch = admitter.batch
    result.settling = admitter.settling
    result.replacedOthers = admitter.replacedOthers
    result.resentLost = admitter.resentLost
    result.files = admitter.selected
    result.failedBefore = admitter.failedBefore
    if let batch = admitter.batch {
      // Their rows still say where the source was that is deleted.
      let kept = Set(result.onlyCopies.filter(\.isSamePath).map(\.path.parentFolder))
      try noteFolders(page.folders, of: batch, keeping: kept)
    }
    if admitter.hasRecorded, let batch = admitter.batch {
      try db.run("UPDATE batch SET hidden = NULL WHERE id = ? AND hidden = 1", .id(batch))
    }
    return result
  }
}

extension SourceIdentity {
  /// A rename changes ctime and not mtime; both are about the same for a file that was just written.
  fileprivate var mayBeRenamed: Bool { ctimeNs -| mtimeNs > 1_000_000_000 }
}

extension PageAdmission {
  fileprivate mutating func count(_ admission: Admission, _ index: Int, _ size: Int64) {
    switch admission {
    case .added(_, let superseded):
      added += 1
      bytes +|= size
      if superseded != nil { changed += 1 }
    case .unchanged: unchanged += 1
    case .queued: queued += 1
    case .requeued: requeued += 1
    case .repeated: repeated += 1
    case .unknown: unknown.append(index)
    case .uncertain(let file): uncertain.append(UncertainFile(index: index, file: file))
    case .busy: busy.append(index)
    case .taken: taken.append(index)
    case .onlyCopy(var only):
      only.index = index
      onlyCopies.append(only)
    case .moved(let file, let identity): moved.append(MovedFile(index: index, file: file, identity: identity))
    }
  }
}

extension LedgerTransaction {
  /// The batch of an `add` if it exists already: recorded by an earlier page, or with the same name.
  func batch(of target: AdmissionTarget) throws -> BatchID? {
    if let name = target.batch.name {
      let named = try db.first("SELECT id, settings FROM batch WHERE name = ? AND origin_id IS NULL", .text(name)) {
        row in
        (id: row.id(0, BatchID.self), settings: row.text(1))
      }
      guard let named else { return nil }
      guard try target.batch.isAsked(as: named.settings, named.id, db) else {
        throw TransferError.otherBatch(name, named.id)
      }
      return named.id
    }
    return try db.first("SELECT id FROM batch WHERE uid = ?", .uid(target.uid)) { $0.id(0) }
  }

  /// A done file of the same destination that may be what a source with a new key was sent as. Uses `file_sent`.
  private func renamed(
    _ file: FileID, _ identity: SourceIdentity, _ target: AdmissionTarget
  ) throws -> (id: FileID, path: NameBytes)? {
    guard identity.mayBeRenamed, target.batch.settings.dedupe != true else { return nil }
    return try db.first(Self.renamedSource, .id(file)) { ($0.id(0), $0.name(1)) }
  }

  static let renamedSource: StaticString = """
    SELECT o.id, o.path FROM file f CROSS JOIN file o
    WHERE f.id = ?1 AND f.generation = 1
      AND o.id IN (SELECT n.id FROM file n WHERE n.inode = f.inode AND n.is_download IS NULL AND n.state = 'done'
        ORDER BY n.id DESC LIMIT 32)
      AND +o.live = 1 AND +o.destination_id = f.destination_id
      AND o.size = f.size AND o.mtime_ns = f.mtime_ns AND o.path <> f.path
      AND (o.boot <> f.boot OR o.device = f.device)
    ORDER BY o.id DESC LIMIT 1
    """

  /// Whether the source of a done file has yet to be deleted or moved.
  private func isToGo(_ file: FileID) throws -> Bool {
    try db.first("SELECT 1 FROM removal WHERE file_id = ? AND state = 'pending'", .id(file)) { _ in true } ?? false
  }

  /// The newest row of a key, and no live one, if it records that its source could not be sent for the same reason; its
  /// batch is nil if it is hidden.
  func lastFailure(
    _ destination: Int64, _ path: NameBytes, _ key: NameBytes, _ failure: Failure
  ) throws -> (batch: BatchID?, hits: FailureHits)? {
    let found = try db.first(
      """
      SELECT id, iif(hidden IS NULL, batch_id, NULL), finished_at,
        size IS NULL AND state = 'failed' AND path = ?3 AND cause = ?4 AND message = ?5
        AND NOT EXISTS (SELECT 1 FROM file l
          WHERE l.destination_id = ?1 AND l.key = ?2 AND l.live = 1 AND l.generation > file.generation)
      FROM file WHERE destination_id = ?1 AND key = ?2 AND live IS NULL ORDER BY generation DESC LIMIT 1
      """, .integer(destination), .name(key), .name(path), .raw(failure.code), .text(failure.message)
    ) { row in
      let hits = FailureHits(count: 1, example: row.int64(0), firstMs: row.int64OrNil(2), lastMs: wallMs)
      return (isSame: row.flag(3), batch: row.int64OrNil(1).map { BatchID(rawValue: $0) }, hits: hits)
    }
    guard let found, found.isSame else { return nil }
    return (found.batch, found.hits)
  }

  /// Whether the newest row of a key without a live one was cancelled when its outcome was unknown.
  func mayHaveArrived(_ destination: Int64, _ key: NameBytes) throws -> Bool {
    try db.first(
      """
      SELECT state = 'cancelled' AND may_have_arrived IS NOT NULL FROM file
      WHERE destination_id = ? AND key = ? AND live IS NULL ORDER BY generation DESC LIMIT 1
      """, .integer(destination), .name(key)
    ) { $0.flag(0) } ?? false
  }
}

extension TransferError {
  /// Two sources of one `add` would be the same object at the destination.
  public static func sameKey(_ path: NameBytes, _ other: NameBytes, _ key: NameBytes) -> TransferError {
    TransferError(
      .usage, "add", path,
      cause: "it has the same key \"\(key.embedded)\" as \"\(other.embedded)\"",
      remedy: "push them separately to different prefixes, or give --base")
  }

  /// The name of a batch is already used with another destination or other settings.
  public static func otherBatch(_ name: String, _ batch: BatchID) -> TransferError {
    TransferError(
      .usage, "add to batch", NameBytes(name),
      cause: "batch \(batch) with this name has a different destination or different settings",
      remedy: "choose another --name")
  }
}
