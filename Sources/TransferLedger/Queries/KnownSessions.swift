import TransferModel

extension LedgerTransaction {
  /// Those of `remoteIDs` that the ledger knows, in any state: these are never unlisted uploads.
  public func knownSessions(_ remoteIDs: [String]) throws -> Set<String> {
    var known: Set<String> = []
    for remoteID in remoteIDs {
      let found = try db.first("SELECT 1 FROM session WHERE remote_id = ? LIMIT 1", .text(remoteID)) { $0.int(0) }
      if found != nil { known.insert(remoteID) }
    }
    return known
  }
}

extension LedgerTransaction {
  /// Whether a file with another key than `file` has an open or completed session with this ID, at the same destination
  /// or, with `isAnywhere`, at any. Uploads of one key may follow each other under one name, but not while the earlier
  /// one is being aborted: that request would end the later one.
  package func isSessionTaken(_ remoteID: String, from file: FileID, isAnywhere: Bool = true) throws -> Bool {
    try db.first(Self.takenSession, .text(remoteID), .id(file), .flag(isAnywhere)) { $0.int(0) } != nil
  }

  static let takenSession: StaticString = """
    SELECT 1 FROM session s CROSS JOIN file o ON o.id = s.file_id CROSS JOIN file f ON f.id = ?2
    WHERE s.remote_id = ?1 AND s.state IN ('open', 'completed')
      AND (o.key <> f.key OR EXISTS (SELECT 1 FROM attempt a
        WHERE a.file_id = o.id AND a.session_id = s.id AND a.operation = 'abort' AND a.outcome = 'open'))
      AND (?3 OR o.destination_id = f.destination_id) LIMIT 1
    """

  /// Whether another chunk of the file, or one of a file with another key and an open or completed session, has its own
  /// upload with this URL. It is the first of the chunk's stored values: `{"url":"…",…}`.
  package func isChunkUploadTaken(_ url: String, by seq: Int, of file: FileID) throws -> Bool {
    let start = try jsonText(["url": url]).dropLast()
    let found = try db.first(
      Self.takenChunkUpload, .text(start + ","), .text(start + "-"), .id(file), .int(seq)
    ) { $0.int(0) }
    return found != nil
  }

  /// The bounds of the URL come first: SQLite seeks with the first bound in the text, and the last one only selects the
  /// index.
  static let takenChunkUpload: StaticString = """
    SELECT 1 FROM chunk c CROSS JOIN file o ON o.id = c.file_id CROSS JOIN file f ON f.id = ?3
    WHERE c.remote >= ?1 AND c.remote < ?2 AND c.remote > '{"url":"http'
      AND (c.file_id = f.id AND c.seq <> ?4 OR o.key <> f.key
        AND EXISTS (SELECT 1 FROM session WHERE file_id = o.id AND state IN ('open', 'completed'))) LIMIT 1
    """
}
