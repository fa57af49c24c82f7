import TransferModel

/// The host that each attempt counts for in all reports by host: the mirror or the target of a redirect that it was
/// sent to, or else the server of its batch. Names with ports.
struct AttemptHosts {
  private let servers: [Int64: String]

  fileprivate init(_ servers: [Int64: String]) { self.servers = servers }

  /// The server of the batch with this number.
  func server(of batch: Int64) -> String { servers[batch] ?? "" }

  /// - Parameter mirror: from the row of the attempt; nil if it was sent to the server.
  func host(of batch: Int64, mirror: String?) -> String { mirror ?? server(of: batch) }
}

extension LedgerReader {
  /// Reads all batches.
  func hosts() throws -> AttemptHosts {
    let rows = try db.rows("SELECT id, coalesce(settings ->> '$.options.endpoint-url', destination) FROM batch") {
      ($0.int64(0), $0.text(1))
    }
    return AttemptHosts(Dictionary(uniqueKeysWithValues: rows.map { ($0, Self.hosts(of: $1)[1]) }))
  }
}
