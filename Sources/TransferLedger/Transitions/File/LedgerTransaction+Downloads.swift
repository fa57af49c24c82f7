public import TransferModel

/// A remote object to be fetched.
public struct NewDownload: Sendable, Hashable {
  /// Absolute path of the local file.
  public var path: NameBytes
  /// The complete remote key, as the protocol gets it.
  public var key: NameBytes
  public var expected: ExpectedContent
  /// The path with its case folded, if its folder does not distinguish names that differ only in case; else nil.
  public var folded: NameBytes?

  public init(
    path: NameBytes, key: NameBytes, expected: ExpectedContent = ExpectedContent(), folded: NameBytes? = nil
  ) {
    (self.path, self.key, self.expected, self.folded) = (path, key, expected, folded)
  }
}

/// Transitions of downloads only: their size and their partial file become known after they were claimed.
extension LedgerTransaction {
  /// active: the server reported the size of the object, in bytes. Once in the life of a generation; `.lost` if the
  /// size differs from the one stored before.
  public func learnSize(_ file: FileID, _ run: RunID, _ size: Int64) throws -> TransitionResult {
    let changes = try db.run(
      """
      UPDATE file SET size = ?1
      WHERE id = ?2 AND run_id = ?3 AND state = 'active' AND is_download = 1 AND coalesce(size, ?1) = ?1
      """, .int(size), .id(file), .id(run))
    return changes == 1 ? .applied : .lost(to: try stateOf(file, run))
  }

  /// active: stores the identity of the partial file (inode, device and boot). `.lost` if bytes were stored already:
  /// they are in another partial file.
  package func notePartialFile(_ file: FileID, _ run: RunID, _ identity: SourceIdentity) throws -> TransitionResult {
    let changes = try db.run(
      """
      UPDATE file SET inode = ?1, device = ?2, boot = ?3
      WHERE id = ?4 AND run_id = ?5 AND state = 'active' AND is_download = 1
        AND NOT EXISTS (SELECT 1 FROM chunk WHERE file_id = ?4 AND (state = 'done' OR acked > 0))
      """, .bits(identity.inode), .bits(identity.device), .bits(identity.boot), .id(file), .id(run))
    return changes == 1 ? .applied : .lost(to: try stateOf(file, run))
  }

  /// pending → done for the first chunk, or acknowledges `bytes` from its start: they arrived with the answer to
  /// `attempt`, which opened the session and was closed before.
  package func storeBeginning(
    _ file: FileID, _ run: RunID, by attempt: AttemptID, bytes: Int64, _ part: PartReceipt?
  ) throws -> TransitionResult {
    try requireWork(file, run)
    guard try bytes == 0 && part == nil || storeBeginning(file, attempt, bytes, part) == 1 else {
      return .lost(to: try stateOf(file, run))
    }
    let size = try db.first("SELECT size FROM file WHERE id = ?", .id(file)) { $0.int64(0) } ?? 0
    guard part != nil || BodyProgress.forgives(bytes, ofFile: size) else { return .applied }
    try db.run(
      """
      UPDATE file SET failures = 0 WHERE id = ?1 AND failures > 0
        AND NOT EXISTS (SELECT 1 FROM chunk WHERE file_id = ?1 AND losses > 0)
      """, .id(file))
    return .applied
  }

  private func storeBeginning(
    _ file: FileID, _ attempt: AttemptID, _ bytes: Int64, _ part: PartReceipt?
  ) throws -> Int {
    guard let part else {
      return try db.run(
        "UPDATE chunk SET acked = ? WHERE file_id = ? AND seq = 0 AND state = 'pending' AND acked = 0", .int(bytes),
        .id(file))
    }
    return try db.run(
      """
      UPDATE chunk SET state = 'done', etag = ?, digest = ?, confirmation = ?, done_attempt = ?, failures = 0
      WHERE file_id = ? AND seq = 0 AND state = 'pending' AND acked = 0
      """, .text(part.etag), .digest(part.digest), .raw(part.confirmation), .id(attempt), .id(file))
  }

  func insertDownload(
    _ file: NewDownload, _ home: Home, _ batch: BatchID, generation: Int, notBeforeMs: Int64?
  ) throws -> FileID {
    FileID(
      rawValue: try db.insert(
        """
        INSERT INTO file (uid, batch_id, destination_id, generation, live, path, key, is_download, expected, size, mode,
          state, priority, not_before, created_at, folded)
        VALUES (?, ?, ?, ?, 1, ?, ?, 1, ?, ?, 0, 'pending', ?, ?, ?, ?)
        """, .uid(.make(wallMs: wallMs)), .id(batch), .integer(home.destination), .int(generation), .name(file.path),
        .name(file.key), storedExpectation(file.expected), .int(file.expected.size), .int(home.priority),
        .int(notBeforeMs), .int(wallMs), .name(file.folded)))
  }
}

/// The download that has written, or will write, the file at a path.
struct ExistingWriter {
  let id: FileID
  let isDone: Bool
  let key: NameBytes
  let path: NameBytes
  let batch: BatchID
  /// The same as ``NewBatch/server``.
  let server: String

  init(_ row: SQLRow) {
    (id, isDone, key, path, batch) = (row.id(0), row.flag(1), row.name(2), row.name(3), row.id(4))
    server = row.text(5)
  }

  static let ofPath: StaticString = """
    SELECT id, state = 'done', key, path, batch_id, (SELECT b.destination
      || coalesce(' at ' || (b.settings ->> '$.options.endpoint-url'), '') FROM batch b WHERE b.id = batch_id)
    FROM file WHERE path = ? AND live = 1 AND is_download = 1
    """
  static let ofFolded: StaticString = """
    SELECT id, state = 'done', key, path, batch_id, (SELECT b.destination
      || coalesce(' at ' || (b.settings ->> '$.options.endpoint-url'), '') FROM batch b WHERE b.id = batch_id)
    FROM file WHERE folded = ? AND folded IS NOT NULL AND live = 1
    """

  /// Why the two files exclude each other.
  func conflict(with file: NewDownload) -> String {
    let what = "file \(id), from \"\(key.embedded)\", is \(isDone ? "here" : "fetched to")"
    if path == file.path { return isDone ? "\(what), at the same path" : "\(what) the same path" }
    return "\(what)\(isDone ? ", as" : "") \"\(path.embedded)\", which the file system of the target folder treats as "
      + "the same name"
  }
}

extension LedgerTransaction {
  /// Records remote objects to be fetched, and their batch with the first that needs a row. Files that have not ended
  /// are not changed. Failed and cancelled files are retried if they would be recorded in the same way now. Done files
  /// are fetched again, as the next generation.
  /// - Throws: `.usage` if two of them would be the same local file, or the named batch has other settings.
  public func admitDownloads(_ files: [NewDownload], to target: AdmissionTarget) throws -> PageAdmission {
    var admission = DownloadAdmission(self, target, batch: try batch(of: target))
    for file in files { try admission.admit(file) }
    try admission.finish()
    return admission.result
  }
}

extension Connection {
  /// The expected content of a download.
  func expectation(of id: FileID) throws -> ExpectedContent? {
    try first("SELECT expected FROM file WHERE id = ?", .id(id)) { storedExpectation($0.textOrNil(0)) }
  }

  /// The absolute path of the local file of a download.
  func path(of id: FileID) throws -> NameBytes? {
    try first("SELECT path FROM file WHERE id = ?", .id(id)) { $0.name(0) }
  }

  /// The case-folded path of a download; nil if its folder distinguishes case.
  func folded(of id: FileID) throws -> NameBytes? {
    try first("SELECT folded FROM file WHERE id = ?", .id(id)) { $0.isNull(0) ? nil : $0.name(0) } ?? nil
  }

  /// The live download for the path of the file, or for a path that its folder does not distinguish from it.
  func existingWriter(of file: NewDownload) throws -> ExistingWriter? {
    if let same = try first(ExistingWriter.ofPath, .name(file.path), row: ExistingWriter.init) { return same }
    return try file.folded.flatMap { try first(ExistingWriter.ofFolded, .name($0), row: ExistingWriter.init) }
  }

  /// The finished download at the path of the file.
  /// - Throws: `.usage` if an unfinished download will write the same local file.
  func writer(of file: NewDownload) throws -> ExistingWriter? {
    guard let other = try existingWriter(of: file) else { return nil }
    if other.isDone { return other }
    throw TransferError(
      .usage, "add", file.path, cause: other.conflict(with: file),
      remedy: "wait for it, cancel it, or choose another folder")
  }

  /// Requires that the unfinished download `id` has the path of `file`, and at least its expected content: a repair
  /// expects more.
  /// - Throws: `.usage` otherwise.
  func requireSame(_ file: NewDownload, _ id: FileID) throws {
    let path = try path(of: id)
    let expected = try expectation(of: id)
    guard path != file.path || !(expected?.includes(file.expected) ?? file.expected.isEmpty) else { return }
    let cause =
      path == file.path
      ? "unfinished file \(id) is expected to have a different size or digest"
      : "file \(id), from the same URL, is being fetched to \((path ?? file.path).embedded)"
    throw TransferError(.usage, "add", file.path, cause: cause, remedy: "wait for it, or cancel it first")
  }
}

extension ExpectedContent {
  /// Whether a file that meets this meets the other too, and comes from the same places.
  fileprivate func includes(_ other: ExpectedContent) -> Bool {
    if other.isEmpty || self == other { return true }
    return size == other.size ?? size && other.digests.allSatisfy(digests.contains) && pieces == other.pieces
      && mirrors == other.mirrors && (!isListed || other.isListed)
  }
}

extension LedgerReader {
  /// What ``LedgerTransaction/admitDownloads(_:to:)`` would find for the file.
  /// - Throws: `.usage` in the same cases.
  public func standing(of file: NewDownload, in batch: NewBatch, nowMs: Int64) throws -> SyncStatus {
    let place = try db.destination(at: batch.canonicalPlace)
    if let live = try file.standing(ExistingFile.liveQuery, at: place, db), live.state != .done {
      try db.requireSame(file, live.id)
      return .queued
    }
    if let writer = try db.writer(of: file) {
      return writer.key == file.key && writer.server == batch.server ? .changed : .new
    }
    guard let past = try file.standing(ExistingFile.pastQuery, at: place, db), past.isSamePath,
      past.state == .failed || past.state == .cancelled, try db.expectation(of: past.id) == file.expected,
      try batch.fits(past.batch, db, nowMs: nowMs)
    else { return .new }
    return .requeued
  }
}

extension NewDownload {
  func standing(_ query: StaticString, at place: Int64?, _ db: Connection) throws -> ExistingFile? {
    guard let place else { return nil }
    return try db.first(query, .integer(place), .name(key), .name(path)) { row throws(SQLiteError) in
      try ExistingFile(row)
    }
  }
}
