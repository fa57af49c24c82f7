public import TransferModel

/// Ends the one file of which the rules of the ledger refused a change. Other files are not affected.
extension LedgerTransaction {
  /// active, finishing → failed; or unknown, if a request that must not be repeated is open. Its open attempts are
  /// closed: their results are not known. Its session is kept for a retry. Returns the state of the file after that.
  public func abandonFile(_ file: FileID, _ run: RunID, message: String) throws -> AbandonedFile {
    let open = try openAttempts(of: file, run)
    for attempt in open { try closeUnheard(attempt, attempt.isRepeatable ? .interrupted : .unknown, .engineBug) }
    let result =
      if open.contains(where: { !$0.isRepeatable }) {
        try markUnknown(file, run, code: .engineBug, message: message)
      } else {
        try failFile(file, run, code: .engineBug, message: message, keepsSession: true)
      }
    let found = try db.first("SELECT state, path FROM file WHERE id = ?", .id(file)) { row throws(SQLiteError) in
      (state: try row.named(0, FileState.self), path: row.name(1))
    }
    return AbandonedFile(id: file, isApplied: result.isApplied, state: found?.state, path: found?.path)
  }
}

/// A file of which the ledger refused a change.
public struct AbandonedFile: Sendable, Hashable {
  public var id: FileID
  /// The file belonged to the run.
  public var isApplied: Bool
  public var state: FileState?
  public var path: NameBytes?
}

extension LedgerReader {
  /// Files that belong to crashed runs, and those with an open attempt of one.
  func filesInHand(notOf run: RunID) throws -> [FileID] {
    try db.rows(
      """
      SELECT id FROM file WHERE state IN ('active', 'finishing') AND run_id <> ?1
      UNION SELECT file_id FROM attempt WHERE outcome = 'open' AND run_id <> ?1
      """, .id(run)
    ) { $0.id(0) }
  }
}

extension Ledger {
  /// Recovers after crashed runs; call it after ``startRun(_:)`` and before the first claim. Open attempts become
  /// `crashed`. Their chunks become pending, or `unknown` if sending them again could store something twice; likewise
  /// the files. Uses one transaction; if the rules of the ledger refuse a row, one for each file, and only the refused
  /// files are left unchanged. Blocking.
  package func recover(_ run: RunID) throws(TransferError) -> Recovery {
    let sent = SendingJournal.read(SendingJournal.path(ofLedger: path))
    do throws(TransferError) { return try write { try $0.recover(run, sent: sent) } } catch {
      guard error.kind == .bug else { throw error }
      var sum = Recovery(crashedAttempts: 0, requeuedFiles: 0, unknownFiles: 0)
      for file in try read({ try $0.filesInHand(notOf: run) }) {
        do throws(TransferError) { sum.add(try write { try $0.recover(run, only: file, sent: sent) }) } catch {
          guard error.kind == .bug else { throw error }
          sum.refused[file] = error.cause
        }
      }
      return sum
    }
  }
}

extension Recovery {
  fileprivate mutating func add(_ other: Recovery) {
    crashedAttempts += other.crashedAttempts
    requeuedFiles += other.requeuedFiles
    unknownFiles += other.unknownFiles
    pausedFiles += other.pausedFiles
    cancelledFiles += other.cancelledFiles
  }
}
