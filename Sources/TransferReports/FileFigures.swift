import TransferModel

/// The columns of `report files` and `list files`.
package enum FileFigures {
  package static let columns: [Column<FileRow>] = [
    .text("id", "Id") { $0.id.description },
    .text("uid") { $0.uid },
    .text("batch", "Batch") { $0.batch.description },
    .integer("generation") { $0.generation },
    .text("sign", "") { sign($0) },
    .text("state", "State") { $0.state }.label(),
    .text("cause", "Cause") { $0.cause }.label(),
    .text("message") { $0.message },
    .bytes("bytes", "Size") { $0.size },
    .bytes("bytes_acked", "Acked") { $0.bytesAcked },
    .bytes("bytes_reused") { $0.bytesReused },
    .bytes("bytes_transferred") { $0.bytesTransferred },
    .bytes("bytes_unacked") { max(0, $0.bytesTransferred -| moved($0)) },
    .bytes("bytes_unacked_at_most") { max(0, $0.bytesTransferredAtMost -| moved($0)) },
    .integer("attempts", "Tries") { $0.attempts },
    .duration("wall_ms", "Took") { wallMs($0) },
    .rate("bps") { bps($0) },
    .text("confirmed_by", "Proof") { $0.confirmedBy }.label(),
    .text("digest") { $0.digest },
    .time("started_at") { $0.startedMs },
    .time("finished_at") { $0.finishedMs },
    .time("pruned_at") { $0.prunedMs },
    .name("path", "Path") { $0.path },
    .text("destination") { $0.destination },
    .name("key") { $0.key },
  ]

  /// Bytes acknowledged for requests.
  private static func moved(_ row: FileRow) -> Int64 { max(0, row.bytesAcked -| row.bytesReused) }

  static func bps(_ row: FileRow) -> Int64? { Quantity.rate(bytes: moved(row), ms: wallMs(row)) }

  /// First to last attempt; nil while it runs. Never negative, even when the wall clock was set back.
  static func wallMs(_ row: FileRow) -> Int64? {
    guard let start = row.startedMs, let end = row.finishedMs, end >= start else { return nil }
    return end -| start
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
