import TransferModel

/// An active file, with its bytes in flight.
package struct LiveFile: Sendable, Hashable {
  package var file: FileRow
  /// Unacknowledged bytes of running bodies; they may still be in the buffers of this machine. For display.
  package let bytesInFlight: Int64

  /// Bytes in flight are limited to the remaining bytes.
  package init(_ file: FileRow, bytesInFlight: Int64 = 0) {
    self.file = file
    let left = file.size.map { max(0, $0 -| max(0, file.bytesAcked)) } ?? .max
    self.bytesInFlight = min(max(0, bytesInFlight), left)
  }

  /// Acknowledged and in flight.
  package var bytesMoved: Int64 { max(0, file.bytesAcked) +| bytesInFlight }
}

/// The columns of a list of active files: those of files, with bytes in flight.
package enum LiveFileFigures {
  package static let columns: [Column<LiveFile>] = FileFigures.columns.flatMap { column -> [Column<LiveFile>] in
    let column: Column<LiveFile> = column.of(\.file)
    return column.key == "bytes_acked" ? [column, inFlight] : [column]
  }

  /// For rows with buttons: a narrow page shows the first columns, and people recognise a file by its path.
  package static let withPathSecond: [Column<LiveFile>] = {
    let (paths, others) = (columns.filter { $0.key == "path" }, columns.filter { $0.key != "path" })
    return others.prefix(1) + paths + others.dropFirst()
  }()

  private static let inFlight: Column<LiveFile> = .bytes("bytes_in_flight", "In flight") {
    isRunning($0.file) ? $0.bytesInFlight : nil
  }

  private static func isRunning(_ file: FileRow) -> Bool { ["active", "finishing"].contains(file.state) }
}
