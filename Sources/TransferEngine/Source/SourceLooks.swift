import CSys
import TransferLedger
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Checks sources that may still be written again, when their settle time has passed. Blocking, on any thread.
struct SourceLooks: Sendable {
  /// The result of one pass.
  struct Result: Sendable, Hashable {
    /// Sources that may be sent, or copied, now.
    var settled = 0
    /// Sources whose settle time has restarted.
    var changed = 0
    var gone = 0
  }

  private static let atOnce = 500

  let ledger: Ledger
  let clock: any TransferClock
  /// Start of the run, by the same clock: a source that changes between two checks of one run is still being written.
  var startedMs: Int64 = 0
  var boot = BootID.current
  var stop = ReadStop.never

  /// Checks every due source. An unchanged source may be sent; the settle time of a changed one restarts; a missing one
  /// is left to the next scan that finds it. Durable on return.
  func pass() throws(TransferError) -> Result {
    var result = Result()
    // Only sources that were due when the pass began: one whose time restarted meanwhile is left to the next pass.
    let beganMs = clock.bootMs
    while !stop.isAsked() {
      // The clock is read before the source is examined, so that the measured time between two checks is never too
      // long.
      let nowMs = clock.bootMs
      let page = try ledger.read { [boot] reader in
        try reader.dueLooks(boot: boot, nowMs: nowMs, limit: Self.atOnce)
      }.filter { $0.boot != boot || $0.dueMs <= beganMs || $0.sinceMs > nowMs }
      if page.isEmpty { return result }
      let seen = page.map { ($0, outcome(on: $0, nowMs: nowMs)) }
      let recorded = try ledger.write { [startedMs] tx in try Self.record(seen, startedMs, tx) }
      result.add(recorded)
      // Another process recorded all of them first: the next pass handles the rest.
      if recorded == Result() { return result }
    }
    return result
  }

  enum Outcome: Sendable, Hashable {
    case settled
    case another(SourceIdentity)
    case gone(ErrorCode, String)
  }

  /// The current identity of a source, and whether it has settled.
  private func outcome(on source: SettlingSource, nowMs: Int64) -> Outcome {
    var status = csys_file_status()
    guard source.path.withCString({ csys_status_at(AT_FDCWD, $0, 0, &status) }) == 0 else {
      let code = errno
      guard code != ENOENT, code != ENOTDIR else { return .gone(.sourceMissing, "its source no longer exists") }
      // A source that cannot be examined may still exist: its time restarts, by the clock of this boot.
      var unseen = source.identity
      unseen.boot = boot
      return .another(unseen)
    }
    guard status.mode & S_IFMT == S_IFREG else {
      return .gone(.sourceKind, "its source is \(fileKind(status.mode)) now")
    }
    return Self.outcome(on: source, now: SourceIdentity(status), boot: boot, nowMs: nowMs)
  }

  /// Only a source with exactly the same identity has settled, and only if the clock ran continuously: after a restart,
  /// or if the clock went back, the time restarts. A file that was compared with a list or a plan, and is another one
  /// now, has nothing to wait for: the engine fails it when it opens its source.
  static func outcome(on source: SettlingSource, now: SourceIdentity, boot: UInt64, nowMs: Int64) -> Outcome {
    if source.isCompared, source.identity.relation(to: now) == .other { return .settled }
    let isMeasured = source.boot == boot && boot != 0 && source.sinceMs <= nowMs && source.dueMs <= nowMs
    return isMeasured && source.identity == now ? .settled : .another(now)
  }

  private static func record(
    _ seen: [(SettlingSource, Outcome)], _ startedMs: Int64, _ tx: LedgerTransaction
  ) throws -> Result {
    var result = Result()
    for (source, outcome) in seen {
      switch outcome {
      case .settled: if try tx.endLook(source).isApplied { result.settled += 1 }
      case .another(let now):
        let isOfRun = source.boot == now.boot && source.sinceMs >= startedMs
        if try tx.lookAgain(source.id, now, byRun: isOfRun).isApplied { result.changed += 1 }
      case .gone(let code, let text):
        if try tx.dropSettling(source.id, code, detail: text).isApplied { result.gone += 1 }
      }
    }
    return result
  }
}

extension SourceLooks.Result {
  fileprivate mutating func add(_ other: Self) {
    settled += other.settled
    changed += other.changed
    gone += other.gone
  }
}
