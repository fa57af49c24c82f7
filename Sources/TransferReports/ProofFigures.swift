import TransferModel

/// The proof of a file, for `show`.
package enum ProofFigures {
  package static let columns: [Column<ReceiptRow>] = [
    .bytes("size", "size") { $0.size },
    .text("attempt", "attempt") { $0.attempt?.description },
    .text("confirmed_by", "confirmed_by") { $0.confirmation },
    .text("digest", "digest") { $0.digest },
    .text("remote_digest", "remote_digest") { $0.remoteDigest },
    .text("sha256", "sha256") { $0.sha256 },
    .text("etag", "etag") { known($0.etag) },
    .text("version_id", "version_id") { known($0.versionID) },
    .text("request_id", "request_id") { known($0.requestID) },
    .text("server_date", "server_date") { known($0.serverDate) },
    .text("location", "location") { known($0.location) },
    .time("recorded_at", "recorded_at") { $0.recordedMs },
    .text("note", "note") { $0.note },
  ]

  /// Empty text from the server is unknown.
  private static func known(_ text: String) -> String? { text.isEmpty ? nil : text }
}
