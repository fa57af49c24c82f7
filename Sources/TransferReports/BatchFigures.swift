import TransferModel

/// The columns of `list batches`.
public enum BatchFigures {
  public static let columns: [Column<BatchRow>] = [
    Column("id", "Id") { .text($0.id.description) },
    Column("uid") { .text($0.uid) },
    Column("name", "Name") { Cell($0.name) },
    Column("state", "State") { .text($0.state) },
    Column("files", "Files") { Cell($0.totals.files) },
    Column("files_done", "Done") { Cell($0.totals.count(.done)) },
    Column("files_failed", "Failed") { Cell($0.totals.count(.failed)) },
    Column("files_unknown") { Cell($0.totals.count(.unknown)) },
    Column("files_left", "Left") { Cell($0.totals.left) },
    Column("bytes", "Size") { .bytes($0.totals.bytes) },
    Column("bytes_acked") { .bytes($0.totals.bytesAcked) },
    Column("bytes_transferred") { .bytes($0.totals.bytesTransferred) },
    Column("bytes_unacked") { .bytes($0.totals.bytesUnacked) },
    Column("bytes_unacked_at_most") { .bytes($0.totals.bytesUnackedAtMost) },
    Column("retries") { Cell($0.totals.retries) },
    Column("created_at", "Created") { .time($0.createdMs) },
    Column("started_at") { Cell(time: $0.startedMs) },
    Column("finished_at") { Cell(time: $0.finishedMs) },
    Column("priority") { .integer($0.priority) },
    Column("rate_bps") { Cell(bytesPerSecond: $0.limits.rate) },
    Column("workers") { Cell($0.limits.workers) },
    Column("deadline_at") { Cell(time: $0.limits.deadlineMs) },
    Column("labels") { .texts($0.labels) },
    Column("protocol") { .text($0.protocolName) },
    Column("destination", "Destination") { .text($0.destination) },
  ]

  /// Without what attempts are read for, however many there are: `show` tells these, `list batches` and `report
  /// summary` tell all.
  public static let ofFiles = columns.filter { !readFromAttempts.contains($0.key) }
  private static let readFromAttempts: Set<String> = [
    "bytes_transferred", "bytes_unacked", "bytes_unacked_at_most", "retries", "started_at", "finished_at",
  ]
}
