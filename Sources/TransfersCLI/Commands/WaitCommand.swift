import ArgumentParser
import TransferLedger
import TransferModel
import TransferReports

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `transfers wait`: until something is finished, with its result as the exit code.
struct WaitCommand: Command {
  enum Goal: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// Nothing goes on by itself: every file is at rest or paused.
    case settled
    /// Every file is done, or one of them cannot become so by itself. Waits through a pause.
    case done
  }

  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Wait until files are finished, and exit with their result.",
    discussion: """
      Needs no engine of its own: it looks at the ledger, whoever works on it. Exits like push: 0 all done, 3 some \
      failed, 4 nothing succeeded, 5 paused files are left, 8 a mismatch; 124 when the time is over. Called-off files \
      count as failed. --for settled waits until nothing goes on by itself; --for done until all are done, or one of \
      them cannot be.
      """)

  @OptionGroup(title: "Selection") var selection: SelectionOptions
  @Option(name: .customLong("for"), help: "What to wait for.") var goal = Goal.settled
  @Option(help: ArgumentHelp("Give up after this time: 90s, 8h.", valueName: "time")) var timeout: TimeSpan?
  @Flag(help: "Exit with 9 when nothing matches.") var failIfEmpty = false
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    guard !selection.isEmpty else {
      throw .usage(
        "wait needs to know for which files", remedy: "transfers wait --last, or --all; transfers help selectors")
    }
    let waiter = LedgerWaiter(ledger: ledger, clock: context.clock) { usleep(UInt32(clamping: $0 * 1000)) }
    let end = try waiter.wait(
      for: goal, try fixed(try selection.filter(ledger, context).withHidden, ledger), timeoutMs: timeout?.ms)
    let value = WaitOutput(end)
    guard end.totals.files > 0 else {
      if !common.format.isForPeople {
        try common.print(value, store: StoreIdentity(ledger), filters: selection.filters, context)
      }
      return try EmptySelection.tell(failIfEmpty, common, context)
    }
    try common.print(value, store: StoreIdentity(ledger), filters: selection.filters, context)
    guard value.status != .ok else { return }
    let isLeft = value.status == .workLeft || value.status == .timeout
    throw CommandFailure(
      value.status, value.reason,
      remedy: isLeft ? "transfers status\(selection.words)" : "transfers report failures\(selection.words)")
  }

  /// States change while one waits: files that are selected by them are those of this moment.
  private func fixed(_ filter: RowFilter, _ ledger: Ledger) throws(CommandFailure) -> RowFilter {
    guard selection.saysWhatChanges else { return filter }
    return .files(try LedgerAccess.read(ledger) { try $0.fileIDs(filter) })
  }
}

/// Looks at the ledger when it has changed, and decides when the waiting is over.
struct LedgerWaiter {
  struct End: Sendable {
    var totals: FileTotals
    var waitedMs: Int64
    var isTimeout: Bool
  }

  static let stepMs: Int64 = 200
  let ledger: Ledger
  let clock: any TransferClock
  /// Does nothing for so many milliseconds; tests let the world go on meanwhile.
  let pause: (_ ms: Int64) -> Void

  func wait(for goal: WaitCommand.Goal, _ filter: RowFilter, timeoutMs: Int64?) throws(CommandFailure) -> End {
    let startedMs = clock.bootMs
    var seen: LedgerMark?
    var totals = FileTotals()
    while true {
      let mark = try failing { () throws(TransferError) in try ledger.changeMark() }
      if mark != seen {
        totals = try LedgerAccess.read(ledger) { try $0.totals(filter) }
        seen = mark
      }
      let waitedMs = clock.bootMs - startedMs
      if Self.isOver(totals, goal) { return End(totals: totals, waitedMs: waitedMs, isTimeout: false) }
      let restMs = timeoutMs.map { $0 - waitedMs } ?? Self.stepMs
      guard restMs > 0 else { return End(totals: totals, waitedMs: waitedMs, isTimeout: true) }
      pause(min(restMs, Self.stepMs))
    }
  }

  static func isOver(_ totals: FileTotals, _ goal: WaitCommand.Goal) -> Bool {
    switch goal {
    case .settled: totals.left == totals.count(.paused)
    case .done: totals.left == 0 || totals.bad + totals.count(.cancelled) > 0
    }
  }
}

/// How the waiting ended.
struct WaitOutput: OutputValue {
  static let schema = "transfers.wait/1"
  struct Counts: Encodable, Sendable { let done, failed, unknown, mismatched, cancelled, paused, left: Int }

  let result: String
  let files: Counts
  let bytesAcked: Cell
  let waitedMs: Cell
  let timedOut: Bool
  let status: ExitCode

  private enum CodingKeys: String, CodingKey { case result, files, bytesAcked, waitedMs, timedOut }

  init(_ end: LedgerWaiter.End) {
    let totals = end.totals
    files = Counts(
      done: totals.count(.done), failed: totals.count(.failed) - totals.mismatched, unknown: totals.count(.unknown),
      mismatched: totals.mismatched, cancelled: totals.count(.cancelled), paused: totals.count(.paused),
      left: totals.left)
    bytesAcked = .bytes(totals.bytesAcked)
    waitedMs = .milliseconds(end.waitedMs)
    timedOut = end.isTimeout
    status =
      end.isTimeout
      ? .timeout
      : ExitCode(
        succeeded: files.done, failed: files.failed + files.unknown + files.cancelled, mismatched: files.mismatched,
        left: files.left)
    result = status.name
  }

  /// `116 done, 2 failed`.
  private var counts: String {
    let all = [
      ("done", files.done), ("failed", files.failed), ("unknown", files.unknown), ("mismatched", files.mismatched),
      ("cancelled", files.cancelled), ("paused", files.paused), ("left", files.left - files.paused),
    ]
    return all.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
  }

  /// For the line on standard error.
  var reason: String { timedOut ? "the time is over: \(counts)" : counts }

  func text(_ style: TextStyle) -> String {
    let word = style.paint(result.replacing("_", with: " "), status == .ok ? .green : .red)
    return "\(word): \(counts) · \(bytesAcked.text) acked · waited \(waitedMs.text)\n"
  }
}
