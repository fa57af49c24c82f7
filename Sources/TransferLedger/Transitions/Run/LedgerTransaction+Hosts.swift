public import TransferModel

extension LedgerTransaction {
  /// Stores for the next run how many concurrent requests were useful at a host, 1 to 256. Throws `.leaseLost` if `run`
  /// has ended.
  public func noteHost(_ host: String, requestsAtOnce: Int, _ run: RunID) throws {
    try requireLease(run)
    let changes = try db.run(
      "UPDATE host_state SET requests_at_once = ?2, run_id = ?3, noted_at = ?4 WHERE host = ?1", .text(host),
      .int(requestsAtOnce), .id(run), .int(wallMs))
    guard changes == 0 else { return }
    try db.run(
      "INSERT INTO host_state (host, requests_at_once, run_id, noted_at) VALUES (?, ?, ?, ?)", .text(host),
      .int(requestsAtOnce), .id(run), .int(wallMs))
  }
}

extension LedgerReader {
  /// The number that an earlier run stored for a host; nil if no run has used the host.
  public func requestsAtOnce(host: String) throws -> Int? {
    try db.first("SELECT requests_at_once FROM host_state WHERE host = ?", .text(host)) { $0.int(0) }
  }
}
