import TransferModel

/// The columns of `report waste`.
package enum WasteReportFigures {
  package static let totals: [Column<WasteFigures>] = [
    .bytes("bytes_transferred", "transferred") { $0.bytesTransferred },
    .bytes("bytes_acked", "acked") { $0.bytesAcked },
    .bytes("bytes_wasted", "for nothing") { $0.bytesWasted },
    .bytes("bytes_uncounted_at_most", "not counted") { $0.bytesUncountedAtMost }.saying { waste in
      let most = waste.bytesUncountedAtMost
      return most > 0 ? "at most \(Quantity.bytes(most)), when engines were killed" : nil
    },
    .share("efficiency", "efficiency") { Share.of($0.bytesAcked, in: $0.bytesTransferred) },
  ]

  package static let causes: [Column<(row: WasteRow, share: Double?)>] = [
    .text("cause", "Cause") { $0.row.cause.name }.label(),
    .text("error_code", "Error") { $0.row.errorCode }.label(),
    .integer("attempts", "Attempts") { $0.row.attempts },
    .bytes("bytes", "Bytes") { $0.row.bytes },
    .share("share", "Share") { $0.share },
  ]
}

/// The columns of `report integrity`.
package enum IntegrityReportFigures {
  package static let totals: [Column<IntegrityFigures>] = [
    .integer("files_done", "done") { $0.done },
    .integer("files_verified", "verified") { $0.done - $0.unverified },
    .integer("files_unverified", "unverified") { $0.unverified },
    .integer("files_mismatched", "mismatched") { $0.mismatched },
    .integer("files_contradicted", "contradicted later") { $0.contradicted },
    .time("oldest_proof_at", "oldest proof") { $0.oldestMs },
    .time("newest_proof_at", "newest proof") { $0.newestMs },
  ]

  package static let methods: [Column<IntegrityMethod>] = [
    .text("method", "Confirmed by") { $0.method }.label(),
    .integer("files", "Files") { $0.files },
    .bytes("bytes", "Size") { $0.bytes },
    .time("oldest_at", "Oldest") { $0.oldestMs },
    .time("newest_at", "Newest") { $0.newestMs },
  ]

  package static let checks: [Column<IntegrityCheck>] = [
    .text("finding", "Newest check") { $0.finding }.label(),
    .integer("files", "Files") { $0.files },
    .time("oldest_at", "Oldest") { $0.oldestMs },
    .time("newest_at", "Newest") { $0.newestMs },
  ]
}
