import TransferModel

/// The receipts of files, with and without proofs.
package enum ReceiptFigures {
  package static let columns: [Column<StoredReceipt>] = facts + names

  /// With the data needed to verify them.
  package static let proven: [Column<ProvenReceipt>] =
    facts.map { $0.of(\.stored) } + [.integer("leaf", "Leaf") { $0.index }] + names.map { $0.of(\.stored) } + [
      // Base64 of the bytes hashed by the leaf.
      .text("leaf_bytes") { base64($0.leaf) },
      .text("proof") { $0.proof },
    ]

  private static let facts: [Column<StoredReceipt>] = [
    .text("file", "File") { $0.file.description },
    .integer("n") { $0.number },
    .text("finding", "Finding") { $0.finding ?? "stored" },
    .bytes("bytes", "Size") { $0.receipt.size },
    .text("confirmed_by", "Confirmed by") { $0.receipt.confirmation },
    .text("digest", "Digest") { $0.receipt.digest },
    .text("remote_digest") { $0.receipt.remoteDigest },
    .text("sha256") { $0.receipt.sha256 },
    .text("etag") { $0.receipt.etag },
    .text("version_id") { $0.receipt.versionID },
    .text("request_id") { $0.receipt.requestID },
    .text("server_date") { $0.receipt.serverDate },
    .text("location") { $0.receipt.location },
    .text("proof_note") { $0.receipt.note },
    .time("recorded_at", "Recorded") { $0.receipt.recordedMs },
  ]

  private static let names: [Column<StoredReceipt>] = [
    .name("path", "Path") { $0.path }, .name("key") { $0.key },
  ]
}
