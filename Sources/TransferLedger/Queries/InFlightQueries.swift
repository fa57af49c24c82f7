package import TransferModel

extension LedgerReader {
  /// The running bodies of the selected files, according to a note. Only requests that are still open in the ledger
  /// count, so bytes that are acknowledged or failed do not. The cost grows with the note.
  package func bodiesInFlight(_ note: InFlightNote, _ filter: RowFilter) throws -> [InFlightBody] {
    try note.bodies.compactMap { attempt, inFlight in
      guard inFlight.bytes > 0 else { return nil }
      return try db.first(
        """
        SELECT f.id, a.started_at FROM attempt a JOIN file f ON f.id = a.file_id
        WHERE a.id = ?1 AND a.run_id = ?2 AND a.outcome = 'open'
          AND {files}
        """, filter, .id(attempt), .id(note.run)
      ) { InFlightBody(file: $0.id(0), startedMs: $0.int64(1), inFlight) }
    }
  }
}
