import TransferModel

extension LedgerTransaction {
  /// Those of `remoteIDs` that the ledger knows, in any state: these are never orphans.
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
  /// Whether a file with another key than `file` has an open or completed session with this ID. Uploads of one key may
  /// follow each other at one URL.
  package func isSessionTaken(_ remoteID: String, from file: FileID) throws -> Bool {
    try db.first(Self.takenSession, .text(remoteID), .id(file)) { $0.int(0) } != nil
  }

  static let takenSession: StaticString = """
    SELECT 1 FROM session s CROSS JOIN file o ON o.id = s.file_id CROSS JOIN file f ON f.id = ?2
    WHERE s.remote_id = ?1 AND s.state IN ('open', 'completed') AND o.key <> f.key LIMIT 1
    """
}
