import TransferModel

/// Figures of attempts, with the same names in every report by batch, host or period.
enum FlowFigures {
  static func columns<Row>(_ flow: @escaping @Sendable (Row) -> AttemptFlow) -> [Column<Row>] {
    [
      .integer("attempts", "Attempts") { flow($0).attempts },
      .integer("errors", "Errors") { flow($0).errors },
      .share("error_rate") { flow($0).errorRate },
      .integer("retries", "Retries") { flow($0).retries },
      .bytes("bytes_transferred", "Transferred") { flow($0).bytesTransferred },
      .bytes("bytes_acked") { flow($0).bytesAcked },
      .duration("active_ms") { flow($0).attempts > 0 ? flow($0).activeMs : nil },
      .rate("goodput_active_bps", "Goodput") { row in
        Quantity.rate(bytes: flow(row).bytesAcked, ms: flow(row).activeMs)
      },
    ]
  }

  /// The number of measured values, and their nearest-rank percentiles: `connect_p95_ms`.
  static func latency<Row>(
    _ name: String, _ title: String?, _ figures: @escaping @Sendable (Row) -> LatencyFigures
  ) -> [Column<Row>] {
    [
      .integer(name + "_n") { figures($0).n },
      .duration(name + "_p50_ms") { figures($0).p50 },
      .duration(name + "_p95_ms", title) { figures($0).p95 },
      .duration(name + "_max_ms") { figures($0).max },
    ]
  }
}

/// The columns of `report batches`: those of `list batches`, with throughput and latency.
package enum BatchHistoryFigures {
  package static let columns: [Column<BatchHistory>] =
    listed + flow + FlowFigures.latency("part", "p95") { $0.flow.latency }

  private static let flow: [Column<BatchHistory>] = [
    .text("host") { $0.host.isEmpty ? nil : $0.host }.label(),
    .integer("attempts") { $0.flow.attempts },
    .integer("errors", "Errors") { $0.flow.errors },
    .duration("wall_ms", "Wall") { $0.flow.wallMs },
    .duration("active_ms") { $0.flow.attempts > 0 ? $0.flow.activeMs : nil },
    .rate("goodput_wall_bps", "Goodput") { Quantity.rate(bytes: $0.batch.totals.bytesMoved, ms: $0.flow.wallMs) },
    .rate("goodput_active_bps") { Quantity.rate(bytes: $0.batch.totals.bytesMoved, ms: $0.flow.activeMs) },
  ]

  /// With the titles of `list batches`, except those that would make the table too wide.
  private static let listed: [Column<BatchHistory>] = BatchFigures.columns.map { column in
    let told = column.of { (row: BatchHistory) in row.batch }
    switch column.key {
    case "id", "state": return told.label()
    case "created_at", "destination": return told.titled(nil)
    default: return told
    }
  }
}

/// The columns of `report hosts`.
package enum HostFigures {
  package static let columns: [Column<HostRow>] =
    [
      .text("host", "Host") { $0.host.isEmpty ? nil : $0.host }.label(),
      .integer("files", "Files") { $0.files },
    ] + FlowFigures.columns { $0.flow }
    + FlowFigures.latency("connect", "Connect p95") { $0.connect }
    + FlowFigures.latency("first_byte", "First byte p95") { $0.firstByte } + [
      .integer("http_429", "429") { $0.statuses[429] ?? 0 },
      .integer("http_503", "503") { $0.statuses[503] ?? 0 },
      .counts("http_versions", "HTTP") { $0.versions },
    ]

  package static let limits: [Column<HostLimitRow>] = [
    .text("host", "Host") { $0.host }.label(),
    .integer("requests_at_once", "Requests at a time") { $0.requestsAtOnce },
    .time("noted_at", "Since") { $0.notedMs },
  ]

  package static let accepted: [Column<HostAcceptanceRow>] = [
    .text("host", "Host") { $0.host }.label(),
    .text("accepted", "Accepted") { $0.accepted }.label(),
    .integer("times", "Times") { $0.times },
    .time("first_at", "Since") { $0.firstMs },
    .time("last_at", "Last") { $0.lastMs },
  ]
}

/// The columns of `report retries`.
package enum RetryReportFigures {
  package static let totals: [Column<RetryFigures>] = [
    .integer("retries", "retries") { $0.retries },
    .duration("backoff_ms", "backoff") { $0.backoffMs },
  ]
  package static let grid: [Column<(hour: RetryHour, share: Double?)>] = [
    .text("host", "Host") { $0.hour.host }.label(),
    .integer("hour", "Hour (UTC)") { $0.hour.hour }.label(),
    .integer("retries", "Retries") { $0.hour.retries },
    .share("share", "Share") { $0.share },
  ]
  package static let parts: [Column<PartTries>] = [
    .integer("attempts", "Attempts") { $0.attempts }.label(),
    .integer("chunks", "Chunks") { $0.chunks },
  ]
}

/// The columns of `report daily`, `weekly` and `monthly`.
package enum PeriodFigures {
  package static let columns: [Column<PeriodRow>] =
    [
      .time("from", "From") { $0.fromMs }.label(),
      .integer("files_done", "Done") { $0.done },
      .integer("files_failed", "Failed") { $0.failed },
      .counts("files_by_state") { row in
        Dictionary(uniqueKeysWithValues: row.files.map { ($0.key.rawValue, $0.value) })
      },
      .bytes("bytes", "Size") { $0.bytes },
    ] + FlowFigures.columns { $0.flow }
    + FlowFigures.latency("part", "p95") { $0.flow.latency } + [
      .duration("longest_batch_ms", "Longest batch") { $0.longestBatchMs },
      .share("verified_share", "Verified") { $0.verifiedShare },
    ]
}
