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
