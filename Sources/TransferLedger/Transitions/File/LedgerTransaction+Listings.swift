public import TransferModel

/// The files that a page of a listing named, as they will be recorded.
public struct ListedFiles: Sendable, Hashable {
  public struct Refused: Sendable, Hashable {
    public var file: NewDownload
    public var failure: Failure

    public init(_ file: NewDownload, _ failure: Failure) { (self.file, self.failure) = (file, failure) }
  }

  public var files: [NewDownload] = []
  /// Files that cannot be fetched.
  public var refused: [Refused] = []
  /// How many others are here already and unchanged.
  public var unchanged = 0

  public init() {}
}

/// A listing is a row of `file` whose key names a folder. The files that it names are recorded in its batch, a page at
/// a time, in the transaction that closes the request for the page.
extension LedgerTransaction {
  /// active: a page arrived. Its files are recorded as `add` would record them; those that cannot be fetched as failed.
  /// - Returns: the number of rows that were recorded or retried.
  public func admitListed(_ page: ListedFiles, by listing: FileID, _ run: RunID) throws -> Int {
    try requireWork(listing, run)
    let target = try target(ofListing: listing)
    var admission = DownloadAdmission(self, target.target, batch: target.batch, listing: listing)
    for file in page.files { try admission.admitListed(file) }
    for refused in page.refused { try admission.refuse(refused.file, refused.failure) }
    try admission.finish()
    if page.unchanged > 0 {
      try db.run(
        """
        UPDATE session SET unchanged = coalesce(unchanged, 0) + ? WHERE file_id = ? AND state = 'open' AND abort_after IS NULL
        """, .int(page.unchanged), .id(listing))
    }
    try db.run("UPDATE file SET failures = 0 WHERE id = ? AND failures > 0", .id(listing))
    return admission.result.added + admission.result.requeued
  }

  /// active → superseded: the files that it named replace it. No attempt may be open.
  public func endListing(_ listing: FileID, _ run: RunID, detail: String) throws -> TransitionResult {
    let requestedAction = try requestedAction(of: listing)
    let result = try moveFile(
      listing, run, from: .active, to: .superseded, isIdle: true,
      """
      UPDATE file SET {moved}, live = NULL, run_id = NULL, cause = NULL, message = ?1,
        hidden = iif(requested_action = 'remove', 1, NULL), requested_action = NULL, finished_at = max(started_at, ?2)
      WHERE {guard}
      """, .text(detail), .int(wallMs))
    guard result.isApplied else { return result }
    let batch = try db.first("SELECT batch_id FROM file WHERE id = ?", .id(listing)) { $0.id(0, BatchID.self) }
    try recordEvent("listed", batch: batch, file: listing, detail: detail)
    try honourEnd(requestedAction, of: listing)
    return .applied
  }

  /// Records that a listing named a file of another batch: it counts like the files that the listing recorded, and only
  /// once even if it is named repeatedly.
  func noteListed(_ file: FileID, of batch: BatchID, by listing: FileID, in home: BatchID?) throws {
    guard batch != home else { return }
    try db.run(
      """
      INSERT INTO listed_file (listing_id, file_id) SELECT ?1, ?2
      WHERE NOT EXISTS (SELECT 1 FROM listed_file WHERE listing_id = ?1 AND file_id = ?2)
      """, .id(listing), .id(file))
  }

  private func target(ofListing listing: FileID) throws -> (batch: BatchID, target: AdmissionTarget) {
    let found = try db.first(
      """
      SELECT b.id, b.name, b.settings, b.protocol, b.destination, d.place, b.labels, b.priority, b.job
      FROM file f JOIN batch b ON b.id = f.batch_id JOIN destination d ON d.id = b.destination_id WHERE f.id = ?
      """, .id(listing)
    ) { row in
      (
        batch: row.id(0, BatchID.self), name: row.textOrNil(1), settings: row.text(2), protocolName: row.text(3),
        destination: row.text(4), place: row.text(5), labels: row.textOrNil(6), priority: row.int(7),
        job: row.textOrNil(8)
      )
    }
    guard let found, let settings = try LedgerReader(db: db).batchSettings(found.batch) else {
      throw TransferError(.bug, "write to store", NameBytes(listing.description), cause: "its batch is gone")
    }
    let batch = NewBatch(
      name: found.name, settings: settings, protocolName: found.protocolName, destination: found.destination,
      place: found.place, labels: values(found.labels), priority: found.priority, job: found.job)
    return (found.batch, AdmissionTarget(batch, since: .beginning, wallMs: wallMs))
  }

  func insertRefused(
    _ file: NewDownload, _ home: Home, _ batch: BatchID, generation: Int, _ failure: Failure
  ) throws {
    try db.run(
      """
      INSERT INTO file (uid, batch_id, destination_id, generation, path, key, is_download, expected, size, mode, state,
        cause, message, priority, created_at, finished_at, folded)
      VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, 0, 'failed', ?, ?, ?, ?, ?, ?)
      """, .uid(.make(wallMs: wallMs)), .id(batch), .integer(home.destination), .int(generation), .name(file.path),
      .name(file.key), storedExpectation(file.expected), .int(file.expected.size), .raw(failure.code),
      .text(failure.message), .int(home.priority), .int(wallMs), .int(wallMs),
      .name(file.folded))
  }
}

/// What the ledger stores about an object that was fetched.
public struct FetchedObject: Sendable, Hashable {
  public var path: NameBytes
  public var size: Int64
  /// The notes of the session in which it was fetched: what the protocol stored about the version. Empty without a
  /// session.
  public var notes: [String: String]
}

extension LedgerReader {
  /// A finished download with a different path that the folder does not distinguish from that of the file: its path,
  /// and why the two files exclude each other.
  public func otherCase(of file: NewDownload) throws -> (path: NameBytes, conflict: String)? {
    guard let folded = file.folded,
      let other = try db.first(ExistingWriter.ofFolded, .name(folded), row: ExistingWriter.init), other.isDone,
      other.path != file.path
    else { return nil }
    return (other.path, other.conflict(with: file))
  }

  /// The done live files with these keys, at the destination of the listing.
  public func fetched(_ keys: [NameBytes], like listing: FileID) throws -> [NameBytes: FetchedObject] {
    var fetched: [NameBytes: FetchedObject] = [:]
    for key in keys {
      fetched[key] = try db.first(
        """
        SELECT f.path, f.size, s.notes FROM file f
          LEFT JOIN session s ON s.id = (SELECT max(id) FROM session WHERE file_id = f.id AND state = 'completed')
        WHERE f.destination_id = (SELECT destination_id FROM file WHERE id = ?) AND f.key = ? AND f.live = 1
          AND f.state = 'done'
        """, .id(listing), .name(key)
      ) { FetchedObject(path: $0.name(0), size: $0.int64(1), notes: storedValues($0.textOrNil(2))) }
    }
    return fetched
  }
}
