import CSQLite
import CSys
import Glibc
import TransferLog
import TransferModel

/// A ledger was found to be an unmarked copy: made with `cp`, `rsync` or a backup program. Its original may have been
/// used since.
struct CopyFinding: Sendable, Hashable {
  enum Evidence: Sendable, Hashable {
    /// It is in a different file than before.
    case otherFile
    /// Its own newest actions are missing, and it is in the same place: it was restored from a copy.
    case olderState
    /// What a run of it wrote last is not here: the file was moved without its log, or an older one was put into it.
    case withoutLog
  }
  var evidence: Evidence
  /// Files that were not at rest: the original may have sent them.
  var files: Int
}

/// Checks whether a ledger is the one that was opened here before.
struct CopyDetector {
  let file: StoreFile
  let gate: Gate
  /// As it was before the ledger was opened: it does no harm if the ledger has progressed since.
  let watermark: Watermark?
  /// That of the file itself: of its newest run, before that began anything.
  let own: Watermark?
  /// Whether there was a write-ahead log with content, before the ledger was opened.
  let hadLog: Bool
  let wallMs: Int64

  init(
    _ file: StoreFile, _ gate: Gate, _ watermark: Watermark?, own: Watermark?, hadLog: Bool, wallMs: Int64
  ) {
    (self.file, self.gate, self.watermark, self.wallMs) = (file, gate, watermark, wallMs)
    (self.own, self.hadLog) = (own, hadLog)
  }

  /// Marks a copy as such (``CopyMark``), or records the file that a new ledger is in. nil if the ledger is not a copy,
  /// or if an engine is running, which has checked it already.
  func look(_ connection: Connection) throws -> CopyFinding? {
    let born = csys_birth_ns(file.path)
    let origin = try origin(connection)
    guard evidence(origin, born) != nil else {
      // If this cannot be written, nothing else can.
      if origin.bornNs == nil, born >= 0 { try? remember(born, connection) }
      // It was moved with its log, which ends when the ledger is closed: the watermark is what will be left of it.
      if let lost = origin.lostWatermark { _ = WatermarkFile(path: Watermark.path(ofLedger: file.path), lost) }
      return nil
    }
    let lock = try SidecarLock(path: file.path + ".lock")
    guard try lock.tryLockExclusive() else { return nil }
    defer { lock.unlock() }
    // Another process may have marked it in the meantime, and added files since.
    guard let evidence = self.evidence(try self.origin(connection), born) else { return nil }
    return try gate.writing { try mark(connection, evidence, born) }
  }

  /// The same, with the errors of the store.
  func looking(_ connection: Connection) throws(TransferError) -> CopyFinding? {
    do { return try look(connection) } catch { throw TransferError(any: error, "open store", path: file.path) }
  }

  private struct Origin {
    var bornNs: Int64?
    /// It has the run and the attempt of the watermark, or is another ledger.
    var knowsWatermark: Bool
    /// It has the newest run of its file.
    var knowsOwn = true
    /// A run did not end since it was marked as a copy, and there is neither a log nor a watermark of this ledger.
    var lacksLog = false
    /// The watermark of its newest run, if that did not end and there is a log, but no watermark of this ledger.
    var lostWatermark: Watermark?
  }

  private func origin(_ connection: Connection) throws -> Origin {
    let attempt = watermark?.attempt ?? 0
    let row = try connection.first(
      """
      SELECT uid, born_ns, EXISTS (SELECT 1 FROM engine_run WHERE uid = ?1)
        AND (?2 = 0 OR EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'attempt' AND seq >= ?2)),
        (SELECT uid FROM engine_run
          WHERE ended_at IS NULL AND origin_id IS NULL AND started_at > coalesce(copied_at, -1)),
        coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'attempt'), 0),
        uid <> ?3 OR EXISTS (SELECT 1 FROM engine_run WHERE uid = ?4)
      FROM store_meta
      """, .uid(watermark?.run ?? UID(high: 0, low: 0)), .integer(attempt),
      .uid(own?.store ?? UID(high: 0, low: 0)), .uid(own?.run ?? UID(high: 0, low: 0))
    ) { row in
      (
        uid: row.uid(0), bornNs: row.int64OrNil(1), knows: row.flag(2), openRun: row.isNull(3) ? nil : row.uid(3),
        attempt: row.int64(4), knowsOwn: row.flag(5)
      )
    }
    guard let row else { return Origin(bornNs: nil, knowsWatermark: true) }
    let isMarked = row.uid == watermark?.store
    var origin = Origin(bornNs: row.bornNs, knowsWatermark: !isMarked || row.knows, knowsOwn: row.knowsOwn)
    guard !isMarked, let run = row.openRun else { return origin }
    if hadLog { origin.lostWatermark = Watermark(store: row.uid, run: run, attempt: row.attempt) }
    origin.lacksLog = !hadLog
    return origin
  }

  private func evidence(_ origin: Origin, _ born: Int64) -> CopyFinding.Evidence? {
    if !origin.knowsWatermark { return .olderState }
    if origin.lacksLog || !origin.knowsOwn { return .withoutLog }
    guard let before = origin.bornNs, born >= 0, before != born else { return nil }
    return .otherFile
  }

  private func remember(_ born: Int64, _ connection: Connection) throws {
    try gate.writing {
      _ = try connection.run("UPDATE store_meta SET born_ns = ? WHERE born_ns IS NULL", .integer(born))
    }
  }

  private func mark(_ connection: Connection, _ evidence: CopyFinding.Evidence, _ born: Int64) throws -> CopyFinding {
    // These files refer to attempts that have these numbers in the original.
    unlink(SendingJournal.path(ofLedger: file.path))
    unlink(InFlightFile.path(ofLedger: file.path))
    try connection.execute("BEGIN IMMEDIATE")
    do {
      try CopyMark.doubtUnfinished(connection)
      try CopyMark.rename(connection, wallMs: wallMs, bornNs: born >= 0 ? born : nil)
      let files = try LedgerReader(db: connection).doubtfulFiles()
      let transaction = LedgerTransaction(db: connection, wallMs: wallMs)
      try transaction.recordEvent(
        "recovered", batch: nil, file: nil, detail: "the ledger \(evidence.words): \(files) files are in doubt")
      try transaction.appendLog(TreeHasher())
      try connection.execute("COMMIT")
      return CopyFinding(evidence: evidence, files: files)
    } catch {
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      throw error
    }
  }
}

extension CopyFinding.Evidence {
  /// The words after "the ledger".
  var words: String {
    switch self {
    case .otherFile: "is a copy: it is in a different file than before"
    case .olderState: "was restored from an older state"
    case .withoutLog: "lacks what its newest run wrote last: it was moved without its other files, or restored"
    }
  }
}

extension LedgerReader {
  /// The watermark of a run that has begun no attempt yet.
  func watermark(of run: RunID) throws -> Watermark? {
    try db.first("SELECT m.uid, r.uid FROM engine_run r CROSS JOIN store_meta m WHERE r.id = ?", .id(run)) { row in
      Watermark(store: row.uid(0), run: row.uid(1), attempt: 0)
    }
  }
}
