public import TransferModel

/// `report summary`: how did it go? Figures only; nothing is counted twice and nothing is rounded here.
public struct SummaryFigures: Sendable, Encodable {
  public let batches: Int
  public let files: [String: Int]
  public let filesTotal, filesLeft, filesUnverified: Int
  public let bytes, bytesAcked, bytesReused, bytesTransferred, bytesUnacked, bytesUnackedAtMost: Int64
  public let attempts: Int64
  public let attemptsByOutcome: [String: Int64]
  public let retries: Int
  public let startedAt, finishedAt: Cell
  /// Last end minus first start of an attempt.
  public let wallMs: Cell
  /// Union of the intervals of all attempts.
  public let activeMs: Cell
  public let goodputWallBps, goodputActiveBps: Cell
  public let partLatency: Latency
  public let failures: FigureTable
  public let slowest: FigureTable

  public struct Latency: Sendable, Encodable {
    public let n: Int64
    public let p50Ms, p95Ms, p99Ms, maxMs: Cell
  }

  public init(
    batches: Int, totals: FileTotals, attempts: AttemptTotals, failures: [FailureRow], slowest: [FileRow]
  ) {
    self.batches = batches
    files = Dictionary(uniqueKeysWithValues: FileState.allCases.map { ($0.rawValue, totals.count($0)) })
      .filter { $0.value > 0 }
    filesTotal = totals.files
    filesLeft = totals.left
    filesUnverified = totals.unverified
    (bytes, bytesAcked, bytesTransferred) = (totals.bytes, totals.bytesAcked, totals.bytesTransferred)
    bytesReused = totals.bytesReused
    (bytesUnacked, bytesUnackedAtMost) = (totals.bytesUnacked, totals.bytesUnackedAtMost)
    self.attempts = attempts.attempts
    attemptsByOutcome = attempts.byOutcome
    retries = totals.retries
    startedAt = Cell(time: attempts.firstMs)
    finishedAt = Cell(time: attempts.lastMs)
    let wall = Self.wall(attempts)
    wallMs = Cell(ms: wall)
    activeMs = attempts.attempts > 0 ? .milliseconds(attempts.activeMs) : .none
    goodputWallBps = Cell(bytesPerSecond: Quantity.rate(bytes: totals.bytesMoved, ms: wall))
    goodputActiveBps = Cell(bytesPerSecond: Quantity.rate(bytes: totals.bytesMoved, ms: attempts.activeMs))
    partLatency = Latency(
      n: attempts.latency.n, p50Ms: Cell(ms: attempts.latency.p50), p95Ms: Cell(ms: attempts.latency.p95),
      p99Ms: Cell(ms: attempts.latency.p99), maxMs: Cell(ms: attempts.latency.max))
    self.failures = FigureTable(FailureFigures.columns, failures)
    self.slowest = FigureTable(FileFigures.columns, slowest)
  }

  private static func wall(_ attempts: AttemptTotals) -> Int64? {
    guard let first = attempts.firstMs, let last = attempts.lastMs, last >= first else { return nil }
    return last - first
  }
}
