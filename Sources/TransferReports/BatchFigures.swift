import TransferModel

/// The columns of `list batches`.
package enum BatchFigures {
  package static let columns: [Column<BatchRow>] = [
    .text("id", "Id") { $0.id.description },
    .text("uid") { $0.uid },
    .text("name", "Name") { $0.name },
    .text("job") { $0.job },
    .text("state", "State") { $0.state }.saying(state),
    .text("error") { $0.fault },
    .integer("files", "Files") { $0.totals.files },
    .integer("files_done", "Done") { $0.totals.count(.done) },
    .integer("files_failed", "Failed") { $0.totals.count(.failed) },
    .integer("files_unknown") { $0.totals.count(.unknown) },
    .integer("files_left", "Left") { $0.totals.left },
    .bytes("bytes", "Size") { $0.totals.bytes },
    .bytes("bytes_acked") { $0.totals.bytesAcked },
    .bytes("bytes_transferred") { $0.totals.bytesTransferred },
    .bytes("bytes_unacked") { $0.totals.bytesUnacked },
    .bytes("bytes_unacked_at_most") { $0.totals.bytesUnackedAtMost },
    .integer("retries") { $0.totals.retries },
    .time("created_at", "Created") { $0.createdMs },
    .time("started_at") { $0.startedMs },
    .time("finished_at") { $0.finishedMs },
    .integer("priority") { $0.priority },
    .rate("rate_bps") { $0.limits.rate },
    .integer("workers") { $0.limits.workers },
    .time("deadline_at") { $0.limits.deadlineMs },
    .texts("labels") { $0.labels },
    .text("protocol") { $0.protocolName },
    .text("destination", "Destination") { $0.destination },
  ]

  /// Batches that no run can send, for `status`.
  package static let held: [Column<BatchRow>] = [
    .text("batch", "Batch") { $0.id.description },
    .integer("files", "Left") { $0.totals.left },
    .text("error", "Its settings cannot be read") { $0.fault },
    .text("next", "Next") { "transfers rm \($0.id), then push its files again" },
  ]

  /// `held: they have version 2; this program supports 1`
  private static func state(_ row: BatchRow) -> String? {
    guard row.state == "held", let fault = row.fault else { return row.state }
    return "held: \(NameBytes(fault).embedded)"
  }

  /// For `show`: without the columns that require reading all attempts; `list batches` and `report summary` have all
  /// columns.
  package static let ofFiles = columns.filter { !readFromAttempts.contains($0.key) }
  private static let readFromAttempts: Set<String> = [
    "bytes_transferred", "bytes_unacked", "bytes_unacked_at_most", "retries", "started_at", "finished_at",
  ]
}
