import TransferModel
import TransferReports
import Transfers

/// The data of a ledger that `top` shows at one moment.
struct TopReading: Sendable {
  var engine: EngineStatus
  var totals: StateTotals
  /// Sent or being sent, and not acknowledged yet.
  var bytesInFlight: Int64 = 0
  /// The rate of running bodies; nil if none is known.
  var bytesPerSecond: Int64?
  /// Bytes a second over the last ten minutes, acknowledged and in flight.
  var rates: [Int64]
  /// Files that are not finished, running ones first.
  var rows: [Row]
  var hosts: [HostRow]
  /// Failed requests, newest first.
  var faults: [FollowedAttempt]

  struct Row: Sendable {
    var live: LiveFile
    /// Only of a running file.
    var chunks: [ChunkMapRow]

    var file: FileRow { live.file }
  }

  static let windowMs: Int64 = 600_000
  /// Chunk maps are read for this many files, and this many chunks of each.
  private static let maps = 20
  private static let chunks = 2_000
  /// The number of newest requests of which the failed ones are shown.
  private static let newest: Int64 = 400

  init(_ reader: StoreReader, _ filter: RowFilter, _ clock: any TransferClock) throws {
    (engine, totals) = (EngineStatus(try reader.engine(clock)), try reader.stateTotals(filter))
    var recent = filter.withHidden
    recent.sinceMs = max(filter.sinceMs ?? .min, clock.wallMs - Self.windowMs)
    // Rows written before the clock was set back are in the future.
    recent.untilMs = min(filter.untilMs ?? .max, clock.wallMs + 1)
    let running = try reader.bodiesInFlight(filter, clock)
    rates = try reader.throughput(recent, nowMs: clock.wallMs, running: running) { _ in 10_000 }.map { $0.bps ?? 0 }
    hosts = try reader.hosts(recent)
    faults = try Self.faults(reader, filter)
    rows = []
    let (inFlight, all) = (running.byFile, running.reduce(InFlight()) { $0 + $1.inFlight })
    bytesInFlight = min(all.bytes, max(0, totals.bytes -| totals.bytesAcked))
    bytesPerSecond = running.isEmpty ? nil : all.bytesPerSecond
    for file in try LiveNow.uploads(reader, filter) {
      let isRunning = ["active", "finishing"].contains(file.state) && rows.count < Self.maps
      let live = LiveFile(file, inFlight[file.id])
      rows.append(Row(live: live, chunks: isRunning ? try reader.chunkMap(of: file.id, limit: Self.chunks) : []))
    }
  }

  private static func faults(_ reader: StoreReader, _ filter: RowFilter) throws -> [FollowedAttempt] {
    let parts = try reader.newestNumbersOfParts().map { part in
      try reader.endedAttempts(
        filter.withHidden, after: max(0, part.attempt - newest), before: part.before, limit: Int(newest))
    }
    let ended = NewestNumbers.joined(parts) { $0.attempt.startedMs }
    return ended.suffix(Int(newest)).filter { $0.attempt.errorCode != nil }.reversed()
  }

  init(
    engine: EngineStatus, totals: StateTotals, rates: [Int64] = [], rows: [Row] = [], hosts: [HostRow] = [],
    faults: [FollowedAttempt] = []
  ) {
    (self.engine, self.totals, self.rates, self.rows, self.hosts, self.faults) = (
      engine, totals, rates, rows, hosts, faults
    )
  }
}
