public import TransferModel

extension LedgerReader {
  /// Bytes in flight for the selected files, according to a note. Only requests that are still open in the ledger
  /// count, so bytes that are acknowledged or failed do not. The cost grows with the note.
  public func bytesInFlight(_ note: InFlightNote, _ filter: RowFilter) throws -> [FileID: Int64] {
    var sums: [FileID: Int64] = [:]
    for (attempt, bytes) in note.bytes where bytes > 0 {
      let file: FileID? = try db.first(
        """
        SELECT f.id FROM attempt a JOIN file f ON f.id = a.file_id
        WHERE a.id = ?1 AND a.run_id = ?2 AND a.outcome = 'open'
          AND {files}
        """, filter, .id(attempt), .id(note.run)
      ) { $0.id(0) }
      if let file { sums[file] = (sums[file] ?? 0) +| bytes }
    }
    return sums
  }
}
