import TransferModel

/// The state of a stop: what was requested, what ends the run, and until when a drain waits for running requests. A
/// value; times are milliseconds of the boot clock.
struct StopSequence: Sendable {
  /// Interval between checks for bodies that cannot end in time.
  private static let lookMs: Int64 = 1_000

  /// How long a drain waits.
  let drainMs: Int64
  private(set) var level: StopSignal.Level?
  /// The error that ends the run; the first one is kept.
  private(set) var fatal: TransferError?
  /// The disk error because of which the run is drained; thrown at the end.
  private(set) var diskTrouble: TransferError?
  private var endMs: Int64 = .max
  private var nextLookMs: Int64 = 0

  init(drainMs: Int64) { self.drainMs = drainMs }

  var isStopping: Bool { level != nil || fatal != nil }

  /// False if an equal or stronger stop was requested before.
  mutating func ask(_ new: StopSignal.Level, nowMs: Int64) -> Bool {
    if let level, level.rawValue >= new.rawValue { return false }
    level = new
    endMs = new == .drain ? nowMs + drainMs : nowMs
    if new == .drain { nextLookMs = nowMs + Self.lookMs }
    return true
  }

  /// The machine slept, which does not count for the time of a drain.
  mutating func slept(ms: Int64) {
    if level == .drain, endMs != .max { endMs = endMs +| ms }
  }

  /// False if the run already ends with another error.
  mutating func fail(_ error: TransferError) -> Bool {
    guard fatal == nil else { return false }
    fatal = error
    return true
  }

  /// The ledger cannot be written at the moment. False if that is known already, or if the run ends with an error
  /// anyway.
  mutating func note(diskTrouble error: TransferError) -> Bool {
    guard diskTrouble == nil, fatal == nil else { return false }
    diskTrouble = error
    return true
  }

  /// Rows can no longer be changed: only running requests are ended.
  var leavesRows: Bool { fatal.map { !$0.leavesLedgerUsable } ?? false }

  /// The drain is over: running requests are interrupted now.
  func isOver(nowMs: Int64) -> Bool { nowMs >= endMs }

  /// How long running requests may still take, in milliseconds.
  func leftMs(nowMs: Int64) -> Int64 { endMs - nowMs }

  /// Whether to check now which bodies cannot end in time; the next check is due a second later. While the engine waits
  /// for the ledger's disk, no body is interrupted to let others complete.
  mutating func takesLook(nowMs: Int64) -> Bool {
    guard nowMs >= nextLookMs else { return false }
    nextLookMs = nowMs + Self.lookMs
    return diskTrouble == nil
  }

  /// Time until the drain needs attention; nil if none is in progress. After its end nothing is due at a certain time:
  /// requests that still run report when they end.
  func waitMs(nowMs: Int64) -> Int64? {
    endMs == .max || isOver(nowMs: nowMs) ? nil : min(endMs - nowMs, max(1, nextLookMs - nowMs))
  }

  /// While the engine waits for the ledger's disk, requests that must not be repeated run until their own time limits:
  /// an answer that arrives can be recorded later; without it the file would be `unknown`.
  var awaitsUnrepeatable: Bool { diskTrouble != nil && level != .now && fatal == nil }
}
