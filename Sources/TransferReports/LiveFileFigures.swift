import TransferModel

/// An active file, with its bytes in flight.
package struct LiveFile: Sendable, Hashable {
  package var file: FileRow
  /// Unacknowledged bytes of running bodies; they may still be in the buffers of this machine. For display.
  package let bytesInFlight: Int64
  /// The rate of its running bodies; nil if none is known.
  package let bytesPerSecond: Int64?

  /// Bytes in flight are limited to the remaining bytes.
  package init(_ file: FileRow, _ inFlight: InFlight? = nil) {
    self.file = file
    let left = file.size.map { max(0, $0 -| max(0, file.bytesAcked)) } ?? .max
    bytesInFlight = min(max(0, inFlight?.bytes ?? 0), left)
    bytesPerSecond = inFlight.map { max(0, $0.bytesPerSecond) }
  }

  /// Acknowledged and in flight.
  package var bytesMoved: Int64 { max(0, file.bytesAcked) +| bytesInFlight }
}

/// The columns of a list of active files: those of files, with bytes in flight.
package enum LiveFileFigures {
  package static let columns: [Column<LiveFile>] = FileFigures.columns.flatMap { column -> [Column<LiveFile>] in
    let column: Column<LiveFile> = column.of(\.file)
    switch column.key {
    case "bytes_acked": return [column, inFlight]
    case "bps": return [rate]
    default: return [column]
    }
  }

  /// For rows with buttons: a narrow page shows the first columns, and people recognise a file by its path.
  package static let withPathSecond: [Column<LiveFile>] = {
    let (paths, others) = (columns.filter { $0.key == "path" }, columns.filter { $0.key != "path" })
    return others.prefix(1) + paths + others.dropFirst()
  }()

  private static let inFlight: Column<LiveFile> = .bytes("bytes_in_flight", "In flight") {
    isRunning($0.file) ? $0.bytesInFlight : nil
  }

  /// That of the running bodies; of an ended file, over its whole time.
  private static let rate: Column<LiveFile> = .rate("bps", "Rate") {
    isRunning($0.file) ? $0.bytesPerSecond : FileFigures.bps($0.file)
  }

  private static func isRunning(_ file: FileRow) -> Bool { ["active", "finishing"].contains(file.state) }
}
