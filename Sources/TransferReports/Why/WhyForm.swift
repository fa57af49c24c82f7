import TransferModel

/// `transfers why` as a report: the subject, the nine parts, and the bottleneck.
extension WhyFigures {
  package static let form = ReportForm<WhyFigures>(
    "transfers.why/1", rows: "parts",
    [
      .record("subject", nil, subject, .headline(2)) { $0 },
      .table("parts", nil, PartRow.columns, TableLook(chart: .parts(name: "part", value: "wall_ms"))) { $0.partRows },
      .facts([.list("sentences", "") { $0.sentences }.saying { $0.sentences.map { "\($0)\n" }.joined() }]),
      .table("failures", "failures", failureColumns) { $0.tally.failures },
      .record("limits", "limits", limitColumns) { $0.tally.attempts > 0 ? $0.limits : nil },
      .record("host", "the host meanwhile", hostColumns) { $0.tally.attempts > 0 ? $0.host : nil },
    ])

  /// `f345 /data/out/x.bin: 2.1 GiB · wall 14m 02s · mostly backoff`
  private static let subject: [Column<WhyFigures>] = [
    .text("id", "id") { "\($0.row.subject)" }.label(),
    .name("name", "name") { $0.row.name },
    .bytes("bytes", "size") { $0.row.bytes },
    .integer("files", "files") { $0.row.files }.saying { $0.row.files.map { Quantity.count($0, "file") } },
    .duration("wall_ms", "wall") { $0.wallMs }.saying { figures in
      figures.wallMs.map { "wall \(Quantity.duration($0))" } ?? "wall not known"
    },
    .text("cause", "cause") { $0.cause }.saying { figures in
      figures.cause.map { $0 == "mixed" ? "mixed" : "mostly \($0)" }
    },
    .text("state") { $0.row.state },
    .text("error_code") { $0.row.cause },
    .text("direction") { $0.row.batch == nil ? nil : $0.row.isDownload ? "download" : "upload" },
    .integer("attempts") { $0.tally.attempts },
    .time("from") { $0.row.fromMs },
    .time("to") { $0.toMs },
    .flag("is_running") { $0.isRunning },
    .duration("asleep_ms") { $0.result.asleepMs },
    .duration("rested_ms") { $0.result.restedMs },
    .duration("clock_set_back_ms") { $0.clockSetBackMs },
    .duration("clock_moved_ms") { $0.clockMovedMs },
  ]

  /// One row a part, in the order of a file's life.
  private struct PartRow: Sendable {
    let name: String
    let ms: Int64
    /// Of the wall time, 0 to 1, to three decimals.
    let share: Double?

    static let columns: [Column<PartRow>] = [
      .text("part", "Part") { $0.name }.label(),
      .duration("wall_ms", "Time") { $0.ms },
      .share("share", "Share") { $0.share },
    ]
  }

  private var partRows: [PartRow] {
    guard wallMs != nil else { return [] }
    let total = Double(result.parts.totalMs)
    return WallPart.inOrder.map { part in
      let ms = result.parts[part]
      return PartRow(
        name: part.name(isDownload: row.isDownload), ms: ms,
        share: total > 0 ? (Double(ms) / total * 1000).rounded() / 1000 : nil)
    }
  }

  private static let failureColumns: [Column<WhyTally.Failures>] = [
    .text("error_code", "Error") { $0.code }.label(),
    .integer("attempts", "Attempts") { $0.count },
    .integer("asked_to_wait", "Asked to wait") { $0.asked },
    .duration("longest_asked_ms") { $0.asked > 0 ? $0.longestAskedMs : nil },
    .duration("backoff_ms", "Backoff") { $0.backoffMs },
    .text("remote_ip", "Server") { $0.remoteIP },
  ]

  private static let limitColumns: [Column<WhyLimits>] = [
    .text("limit", "limited by") { $0.limit?.rawValue },
    .bytes("chunk_bytes", "chunk") { $0.chunkBytes },
    .integer("connections", "connections") { $0.connections },
    .duration("turnaround_ms", "turnaround") { $0.turnaroundMs },
    .duration("round_trip_ms", "round trip") { $0.roundTripMs },
    .rate("bound_bps", "at most") { $0.boundBps },
    .rate("send_bps", "while moving") { $0.sendBps },
    .bytes("bytes_in_flight", "in flight") { $0.inFlight?.bytes },
    .rate("now_bps", "now") { $0.inFlight?.bytesPerSecond },
    .rate("rate_bps", "rate limit") { $0.rateBps },
    .duration("held_ms", "held by it") { $0.heldMs }.saying { $0.heldMs > 0 ? Quantity.duration($0.heldMs) : nil },
    .share("processor_share", "processor") { $0.processorShare },
  ]

  private static let hostColumns: [Column<HostActivity>] = [
    .text("host", "host") { $0.host },
    .integer("other_attempts", "other attempts") { $0.others },
    .integer("failed", "failed") { $0.failed },
    .integer("http_429", "429") { $0.tooMany },
    .integer("http_503", "503") { $0.unavailable },
  ]
}
