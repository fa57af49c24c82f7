import ArgumentParser
import Transfers
import TransferModel
import TransferReports

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `transfers wait`: waits until files are finished, with their result as the exit code.
struct WaitCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Wait until files are finished, and exit with their result.",
    discussion: """
      Starts no engine: it watches the ledger, whichever engine works on it. Exit codes are those of push: 0 all done, \
      3 some failed, 4 nothing succeeded, 5 files are left that are paused or past their deadline, 8 a mismatch; 124 \
      when the timeout expired. Cancelled files count as failed. --for settled waits until nothing continues \
      automatically; --for done until all are done, or one of them cannot be.
      """)

  @OptionGroup(title: "Selection") var selection: SelectionOptions
  @Option(name: .customLong("for"), help: "What to wait for.") var goal = WaitGoal.settled
  @Option(help: ArgumentHelp("Give up after this time: 90s, 8h.", valueName: "time")) var timeout: TimeSpan?
  @Flag(help: "Exit with 9 when nothing matches.") var failIfEmpty = false
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    guard !selection.isEmpty else {
      throw .usage(
        "wait needs a selection", remedy: "transfers wait --last, or --all; transfers help selectors")
    }
    let watch = LedgerWatch(ledger: ledger, clock: context.clock) { usleep(UInt32(clamping: $0 * 1000)) }
    let selected = try selection.filter(ledger, context)
    let (filter, files) = try LedgerAccess.read(ledger) { reader in
      let filter = try reader.fixed(selected)
      return (filter.withHidden, try AwaitedFiles(filter, reader))
    }
    let end = try LedgerWaiter(watch: watch).wait(for: goal, files, timeoutMs: timeout?.ms)
    let value = WaitOutput(end)
    guard end.state.totals.files > 0 else {
      if !common.format.isForPeople {
        try common.print(value, store: StoreIdentity(ledger), filters: selection.filters, context)
      }
      return try EmptySelection.tell(failIfEmpty, common, context)
    }
    try common.print(value, store: StoreIdentity(ledger), filters: selection.filters, context)
    guard value.status != .ok else { return }
    throw CommandFailure(value.status, value.reason, remedy: try remedy(value, filter, ledger, context))
  }

  private func remedy(
    _ value: WaitOutput, _ filter: RowFilter, _ ledger: OpenStore, _ context: Context
  ) throws(CommandFailure) -> String {
    guard value.status == .workLeft else {
      if value.status == .timeout { return "transfers status\(selection.words)" }
      guard value.isOnlyCancelled else { return "transfers report failures\(selection.words)" }
      // A retry of all would repeat what may have arrived.
      return try LedgerAccess.read(ledger) { try $0.undecided(filter) }.isEmpty
        ? "transfers retry --state cancelled\(selection.words)" : "transfers help resolve"
    }
    guard value.overdue > 0 else { return "transfers resume\(selection.words)" }
    let nowMs = context.clock.wallMs
    let batches = try LedgerAccess.read(ledger) { try $0.overdueBatches(filter, nowMs: nowMs) }
    return "transfers set --deadline none" + batches.map { " \($0.id)" }.joined()
  }
}

extension WaitGoal: ExpressibleByArgument {}

/// Decides when the wait ends.
struct LedgerWaiter {
  let watch: LedgerWatch

  func wait(for goal: WaitGoal, _ files: AwaitedFiles, timeoutMs: Int64?) throws(CommandFailure) -> WaitResult {
    let startedMs = watch.clock.bootMs
    let end = try watch.until(timeoutMs: timeoutMs) { isDue throws(CommandFailure) -> SelectionState? in
      guard isDue else { return nil }
      let state = try look(files)
      return state.reaches(goal) ? state : nil
    }
    let last = if let end { end } else { try look(files) }
    return WaitResult(state: last, waitedMs: watch.clock.bootMs - startedMs, isTimeout: !last.reaches(goal))
  }

  private func look(_ files: AwaitedFiles) throws(CommandFailure) -> SelectionState {
    try LedgerAccess.read(watch.ledger) { try files.state($0, nowMs: watch.clock.wallMs) }
  }
}

/// How the wait ended.
struct WaitOutput: OutputValue {
  let totals: StateTotals
  let overdue: Int
  let waitedMs: Int64
  let timedOut: Bool
  let status: ExitCode

  init(_ end: WaitResult) {
    totals = end.state.totals
    overdue = end.state.overdue
    waitedMs = end.waitedMs
    timedOut = end.isTimeout
    status = end.isTimeout ? .timeout : ExitCode(RunNumbers(FileTotals(totals), wallMs: 0))
  }

  static let form = ReportForm<WaitOutput>(
    "transfers.wait/1",
    [
      .facts(
        [
          .text("result", "result") { $0.status.name }.saying { $0.status.words },
          .counts("files", "files") { Dictionary(uniqueKeysWithValues: $0.counts) }.saying { $0.countsText },
          .bytes("bytes_acked", "bytes") { $0.totals.bytesAcked }.saying {
            "\(Quantity.bytes($0.totals.bytesAcked)) acked"
          },
          .duration("waited_ms", "waited") { $0.waitedMs }.saying { "waited \(Quantity.duration($0.waitedMs))" },
          .flag("timed_out") { $0.timedOut },
        ], .headline(1))
    ])

  var failed: Int { totals.count(.failed) - totals.mismatched }
  /// Some files were cancelled, and none failed or is unknown.
  var isOnlyCancelled: Bool { totals.count(.cancelled) > 0 && failed + totals.count(.unknown) + totals.mismatched == 0 }

  private var counts: [(String, Int)] {
    [
      ("done", totals.count(.done)), ("failed", failed), ("unknown", totals.count(.unknown)),
      ("mismatched", totals.mismatched), ("cancelled", totals.count(.cancelled)), ("paused", totals.count(.paused)),
      ("overdue", overdue), ("left", totals.left),
    ]
  }

  /// `116 done, 2 failed`.
  private var countsText: String {
    let told = counts.map { name, count in
      switch name {
      case "overdue": ("past the deadline", count)
      case "left": (name, count - totals.count(.paused) - overdue)
      default: (name, count)
      }
    }
    return told.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
  }

  /// The text for the line on standard error.
  var reason: String { timedOut ? "timed out: \(countsText)" : countsText }
}
