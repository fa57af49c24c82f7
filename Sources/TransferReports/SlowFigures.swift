import TransferModel

/// The columns of `report slow`: one file for each row, and how its wall time was spent.
package enum SlowFigures {
  package static let columns: [Column<WhyFigures>] = file + parts + verdict

  private static let file: [Column<WhyFigures>] = [
    .text("id", "File") { "\($0.row.subject)" },
    .text("batch") { $0.row.batch.map { "\($0)" } },
    .text("host", "Host") { $0.host.map(\.host) }.label(),
    .text("direction") { $0.row.isDownload ? "download" : "upload" }.label(),
    .text("state", "State") { $0.row.state }.label(),
    .text("error_code") { $0.row.cause }.label(),
    .bytes("bytes", "Size") { $0.row.bytes },
    .integer("attempts", "Attempts") { $0.tally.attempts },
    .duration("wall_ms", "Wall") { $0.wallMs },
  ]

  /// `send_ms` is the time of the body in either direction.
  private static let parts: [Column<WhyFigures>] = WallPart.inOrder.map { part in
    .duration("\(part)_ms") { $0.wallMs == nil ? nil : $0.result.parts[part] }
  }

  /// The keys of the nine parts, in the order of a file's life.
  package static let partKeys = parts.map(\.key)

  private static let verdict: [Column<WhyFigures>] = [
    .text("cause", "Cause") { $0.cause }.label(),
    .text("limit", "Limit") { $0.limitOfMost?.rawValue }.label(),
    .name("path", "Path") { $0.row.name },
    .text("verdict") { $0.verdict },
  ]

  /// The parts of several files together, in the order of a file's life.
  package static let sums: [Column<(part: WallPart, ms: Int64, share: Double?)>] = [
    .text("part", "Part") { "\($0.part)" }.label(),
    .duration("wall_ms", "Time") { $0.ms },
    .share("share", "Share") { $0.share },
  ]

  /// For files whose wall time is known; empty if there are none.
  package static func sums(_ files: [WhyFigures]) -> [(part: WallPart, ms: Int64, share: Double?)] {
    let known = files.filter { $0.wallMs != nil }
    let total = known.reduce(0) { $0 +| $1.result.parts.totalMs }
    guard total > 0 else { return [] }
    return WallPart.inOrder.map { part in
      let ms = known.reduce(0) { $0 +| $1.result.parts[part] }
      return (part, ms, Share.of(ms, in: total))
    }
  }
}
