import TransferModel

/// The columns of `report files` and `list files`.
public enum FileFigures {
  public static let columns: [Column<FileRow>] = [
    Column("id", "Id") { .text($0.id.description) },
    Column("uid") { .text($0.uid) },
    Column("batch", "Batch") { .text($0.batch.description) },
    Column("generation") { .integer($0.generation) },
    Column("sign", "") { .text(sign($0)) },
    Column("state", "State") { .text($0.state) },
    Column("cause", "Cause") { Cell($0.cause) },
    Column("message") { Cell($0.message) },
    Column("bytes", "Size") { Cell(bytes: $0.size) },
    Column("bytes_acked", "Acked") { .bytes($0.bytesAcked) },
    Column("bytes_reused") { .bytes($0.bytesReused) },
    Column("bytes_transferred") { .bytes($0.bytesTransferred) },
    Column("bytes_unacked") { .bytes(max(0, $0.bytesTransferred - moved($0))) },
    Column("bytes_unacked_at_most") { .bytes(max(0, $0.bytesTransferredAtMost - moved($0))) },
    Column("attempts", "Tries") { .integer($0.attempts) },
    Column("wall_ms", "Wall") { Cell(ms: wallMs($0)) },
    Column("bps") { Cell(bytesPerSecond: Quantity.rate(bytes: moved($0), ms: wallMs($0))) },
    Column("confirmed_by", "Proof") { Cell($0.confirmedBy) },
    Column("digest") { Cell($0.digest) },
    Column("started_at") { Cell(time: $0.startedMs) },
    Column("finished_at") { Cell(time: $0.finishedMs) },
    Column(name: "path", "Path") { $0.path },
    Column("destination") { .text($0.destination) },
    Column(name: "key") { $0.key },
  ]

  /// What requests got acknowledged.
  private static func moved(_ row: FileRow) -> Int64 { max(0, row.bytesAcked - row.bytesReused) }

  /// First to last attempt; nil while it runs. Never negative, even when the wall clock was set back.
  static func wallMs(_ row: FileRow) -> Int64? {
    guard let start = row.startedMs, let end = row.finishedMs, end >= start else { return nil }
    return end - start
  }

  /// One character a file: `=` done, `!` failed or unknown, `-` cancelled or superseded, `~` not finished.
  static func sign(_ row: FileRow) -> String {
    switch FileState(rawValue: row.state) {
    case .done: "="
    case .failed, .unknown: "!"
    case .cancelled, .superseded: "-"
    default: "~"
    }
  }
}
