import TransferModel

extension LedgerReader {
  /// Bytes that the attempts selected by the filter transferred but that do not count. Reads the attempts in table
  /// order.
  package func waste(_ filter: RowFilter) throws -> WasteFigures {
    var found = WasteFigures()
    var causes: [WastePlace: WasteRow] = [:]
    try eachTransfer(filter) { row in
      let cause = WasteCause(rawValue: row.int64(0)) ?? .unacknowledged
      let (transferred, acked) = (row.int64(1), [.replaced, .lost].contains(cause) ? 0 : row.int64(2))
      found.bytesTransferred +|= transferred
      found.bytesAcked +|= acked
      guard transferred > acked else { return }
      let place = WastePlace(cause: cause, code: cause == .failed ? row.textOrNil(3) : nil)
      causes[place, default: WasteRow(cause, place.code)].add(transferred -| acked)
    }
    found.causes = causes.values.sorted {
      ($1.bytes, $0.cause.rawValue, $0.errorCode ?? "") < ($0.bytes, $1.cause.rawValue, $1.errorCode ?? "")
    }
    found.bytesUncountedAtMost = try untold(filter)
    return found
  }

  /// Passes each attempt that transferred anything: the number of its ``WasteCause``, the bytes, those of them that
  /// count, and its error if some do not. What was stored in a session is lost when another one takes its place: the
  /// file begins again then.
  private func eachTransfer(_ filter: RowFilter, _ each: (SQLRow) -> Void) throws {
    if filter.isEverything {
      _ = try db.rows(
        """
        SELECT iif(f.state = 'superseded', 5, CASE WHEN {lost of all} THEN 7
            ELSE CASE a.outcome WHEN 'ok' THEN 4 WHEN 'open' THEN 6 WHEN 'interrupted' THEN 3
            WHEN 'crashed' THEN 2 ELSE 1 END END),
          a.bytes_transferred, a.bytes_acked, iif(a.bytes_acked < a.bytes_transferred, a.error_code, NULL)
        FROM attempt a CROSS JOIN file f ON f.id = a.file_id WHERE a.bytes_transferred > 0
        """, filter, row: each)
    } else {
      _ = try db.rows(
        """
        SELECT iif(f.state = 'superseded', 5, CASE WHEN {lost} THEN 7
            ELSE CASE a.outcome WHEN 'ok' THEN 4 WHEN 'open' THEN 6 WHEN 'interrupted' THEN 3
            WHEN 'crashed' THEN 2 ELSE 1 END END),
          a.bytes_transferred, a.bytes_acked, iif(a.bytes_acked < a.bytes_transferred, a.error_code, NULL)
        FROM attempt a JOIN file f ON f.id = a.file_id WHERE a.bytes_transferred > 0 AND {attempts}
        """, filter, row: each)
    }
  }
}

private struct WastePlace: Hashable {
  var cause: WasteCause
  var code: String?
}

extension WasteRow {
  fileprivate mutating func add(_ lost: Int64) {
    attempts += 1
    bytes +|= lost
  }
}
