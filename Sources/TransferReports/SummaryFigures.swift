public import TransferModel

/// `report summary`. Figures only; nothing is counted twice and nothing is rounded here.
public struct SummaryFigures: Sendable {
  public let batches: Int
  public let totals: FileTotals
  public let attempts: AttemptTotals
  /// Largest number of files first.
  public let failures: [FailureRow]
  public let slowest: [FileRow]
  /// Most time first.
  public let costs: [CostRow]
  /// Sources that `--after` was to delete or move, and that still exist.
  public let removals: RemovalTotals
  /// Files of a merged ledger that another shard has sent, too.
  public let equalKeys: Int64

  package init(
    batches: Int, totals: FileTotals, attempts: AttemptTotals, failures: [FailureRow], slowest: [FileRow],
    costs: [CostRow] = [], removals: RemovalTotals = RemovalTotals(), equalKeys: Int64 = 0
  ) {
    (self.batches, self.totals, self.attempts) = (batches, totals, attempts)
    (self.failures, self.slowest, self.costs, self.removals) = (failures, slowest, costs, removals)
    self.equalKeys = equalKeys
  }

  package static let sections: [SectionForm<SummaryFigures>] = most + overview + details
  /// The sections in the order of a page, below a summarizing sentence.
  package static let ofPage: [SectionForm<SummaryFigures>] = [.words { $0.headline }] + overview + most + detailsOfPage

  private static let most: [SectionForm<SummaryFigures>] = [
    .words { $0.costs.isEmpty && !$0.isEmpty ? "no costs in time" : nil },
    .table("costs", "what cost most", CostFigures.columns, TableLook(limit: 3)) { $0.costs },
  ]

  private static let overview: [SectionForm<SummaryFigures>] = [
    .facts(figures),
    .record("part_latency", nil, latency) { $0.attempts.latency },
  ]

  private static let details: [SectionForm<SummaryFigures>] = [
    .table("failures", "failures", FailureFigures.columns, TableLook(note: "hint")) { $0.failures }, slowest,
  ]

  private static let detailsOfPage: [SectionForm<SummaryFigures>] = [
    .table("failures", "failures", FailureFigures.onPage, TableLook(note: "hint")) { $0.failures }, slowest,
  ]

  private static let slowest: SectionForm<SummaryFigures> =
    .table("slowest", "slowest files", FileFigures.columns) { $0.slowest }

  private static let figures: [Column<SummaryFigures>] =
    [
      .integer("batches", "batches") { $0.batches }.saying { $0.isEmpty ? nil : "\($0.batches)" },
      .counts("files", "files") { $0.files }.saying { $0.isEmpty ? nil : $0.fileCounts },
      .integer("files_total") { $0.totals.files },
      .integer("files_left") { $0.totals.left },
      .bytes("bytes", "bytes") { $0.totals.bytes }.saying { $0.isEmpty ? nil : $0.sizes },
      .bytes("bytes_acked") { $0.totals.bytesAcked },
      .bytes("bytes_reused") { $0.totals.bytesReused },
      .bytes("bytes_transferred") { $0.totals.bytesTransferred },
      .bytes("bytes_unacked") { $0.totals.bytesUnacked },
      .bytes("bytes_unacked_at_most") { $0.totals.bytesUnackedAtMost },
      .integer("attempts", "attempts") { $0.attempts.attempts }.saying { $0.isEmpty ? nil : $0.attemptCounts },
      .counts("attempts_by_outcome") { $0.attempts.byOutcome.mapValues { Int($0) } },
      .integer("retries") { $0.totals.retries },
      .time("started_at", "time") { $0.attempts.firstMs }.saying { $0.span },
      .time("finished_at") { $0.attempts.lastMs },
      .duration("wall_ms", "elapsed") { $0.wallMs }.saying { figures in
        figures.wallMs.map { "\(Quantity.duration($0)), goodput \(Cell(bytesPerSecond: figures.wallRate).text)" }
      },
      .duration("active_ms", "active") { $0.activeMs }.saying { figures in
        figures.activeMs.map { "\(Quantity.duration($0)), goodput \(Cell(bytesPerSecond: figures.activeRate).text)" }
      },
      .rate("goodput_wall_bps") { $0.wallRate },
      .rate("goodput_active_bps") { $0.activeRate },
      .integer("files_unverified", "unverified") { $0.totals.unverified }.saying { figures in
        let files = figures.totals.unverified
        return files > 0 ? "\(Quantity.count(files, "file")) done without proof from the server" : nil
      },
      .integer("equal_keys", "equal keys") { $0.equalKeys }.saying { figures in
        let files = Int(figures.equalKeys)
        return files > 0 ? "\(Quantity.count(files, "file")) of the whole ledger that another shard sent, too" : nil
      },
    ] + RemovalFigures.columns { $0.removals }

  /// For fewer than twenty values a percentile says no more than the maximum.
  private static let latency: [Column<LatencyFigures>] = [
    .integer("n", "part time") { $0.n }.saying { part in
      guard part.n > 0 else { return nil }
      let tail = part.n < 20 ? "" : ", p95 \(Cell(ms: part.p95).text), p99 \(Cell(ms: part.p99).text)"
      return "p50 \(Cell(ms: part.p50).text)\(tail), max \(Cell(ms: part.max).text) (n = \(part.n))"
    },
    .duration("p50_ms") { $0.p50 },
    .duration("p95_ms") { $0.p95 },
    .duration("p99_ms") { $0.p99 },
    .duration("max_ms") { $0.max },
  ]

  // MARK: - Figures

  private var isEmpty: Bool { totals.files == 0 }

  /// Last end minus first start of an attempt.
  public var wallMs: Int64? {
    guard let first = attempts.firstMs, let last = attempts.lastMs, last >= first else { return nil }
    return last -| first
  }

  /// Union of the intervals of all attempts.
  public var activeMs: Int64? { attempts.attempts > 0 ? attempts.activeMs : nil }
  /// Bytes a second of the wall time, and of the active time.
  public var wallRate: Int64? { Quantity.rate(bytes: totals.bytesMoved, ms: wallMs) }
  public var activeRate: Int64? { Quantity.rate(bytes: totals.bytesMoved, ms: attempts.activeMs) }

  private var files: [String: Int] {
    Dictionary(uniqueKeysWithValues: FileState.allCases.map { ($0.rawValue, totals.count($0)) }).filter { $0.value > 0 }
  }

  // MARK: - Words

  /// `94 of 100 files arrived, 10.8 / 12.4 GiB: none failed, 5 paused, 1 cancelled. What cost most: …`
  var headline: String? {
    guard !isEmpty else { return nil }
    let done = totals.count(.done)
    let arrived =
      done == totals.files
      ? done == 1 ? "The file arrived" : "All \(done) files arrived"
      : "\(done) of \(Quantity.count(totals.files, "file")) arrived"
    let others = FileState.allCases.filter { $0 != .done && $0 != .superseded && totals.count($0) > 0 }
      .map { "\(totals.count($0)) \($0.rawValue)" }
    let failed = done < totals.files && totals.count(.failed) + totals.count(.unknown) == 0 ? ["none failed"] : []
    let rest = (failed + others).joined(separator: ", ")
    let unproven =
      totals.unverified == 0
      ? "" : " \(totals.unverified) of \(rest.isEmpty ? "them" : "the \(done)") without proof from the server."
    let cost = costs.first.map { " What cost most: \($0.what)\($0.place), \(Quantity.duration($0.ms))." } ?? ""
    let unsized = totals.unsized > 0 ? " and \(totals.unsized) of unknown size" : ""
    let bytes = Quantity.fraction(totals.bytesAcked, of: totals.bytes) + unsized
    return "\(arrived), \(bytes)\(rest.isEmpty ? "" : ": " + rest)."
      + unproven + cost
  }

  private var fileCounts: String {
    let states = FileState.allCases.compactMap { state in files[state.rawValue].map { "\($0) \(state.rawValue)" } }
    return "\(totals.files): " + states.joined(separator: ", ")
  }

  private var sizes: String {
    let unacked = Quantity.unacked(totals.bytesUnacked, atMost: totals.bytesUnackedAtMost).map { ", \($0)" } ?? ""
    let reused = Quantity.reused(totals.bytesReused).map { ", \($0)" } ?? ""
    return "\(Quantity.bytes(totals.bytesAcked)) acked of \(Quantity.bytes(totals.bytes))\(reused)\(unacked)"
  }

  private var attemptCounts: String {
    let outcomes = AttemptOutcome.allCases.compactMap { outcome in
      attempts.byOutcome[outcome.rawValue].map { "\($0) \(outcome.rawValue)" }
    }
    return "\(attempts.attempts)" + (outcomes.isEmpty ? "" : ": " + outcomes.joined(separator: ", "))
  }

  private var span: String? {
    guard attempts.firstMs != nil else { return nil }
    return "\(Cell(time: attempts.firstMs).text) to \(Cell(time: attempts.lastMs).text)"
  }
}
