public import TransferModel

extension LedgerTransaction {
  /// Notes how many requests at a time were worth while at a host, 1 to 256, for the next run. Throws `.leaseLost` when
  /// `run` is not the engine's any more.
  public func noteHost(_ host: String, requestsAtOnce: Int, _ run: RunID) throws {
    try requireLease(run)
    try db.run(
      """
      INSERT INTO host_state (host, requests_at_once, run_id, noted_at) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (host) DO UPDATE SET requests_at_once = ?2, run_id = ?3, noted_at = ?4
      """, .text(host), .int(requestsAtOnce), .id(run), .int(wallMs))
  }
}

extension LedgerReader {
  /// What an earlier run noted of a host; nil for one that no run has used.
  public func requestsAtOnce(host: String) throws -> Int? {
    try db.first("SELECT requests_at_once FROM host_state WHERE host = ?", .text(host)) { $0.int(0) }
  }
}
