import ArgumentParser
import TransferLedger
import TransferModel
import TransferReports

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `transfers follow`: what happens, as it is recorded.
struct FollowCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "follow", abstract: "Print events and ends of requests as they are recorded, like tail -f.",
    discussion: """
      Begins with what comes next; with --since with what is recorded from then on. --json prints a record a line. Ends \
      with Ctrl-C or SIGTERM, when nobody reads any more, or with --until-idle when no engine runs.
      """)

  @OptionGroup(title: "Selection") var selection: SelectionOptions
  @Flag(help: "End when no engine runs.") var untilIdle = false
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if selection.rows.until != nil { throw ValidationError("follow has no end but --until-idle; leave out --until") }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context, finds: .attempts).withHidden
    var printer = try FollowPrinter(StoreIdentity(ledger), selection.filters, common, context)
    var follower = try LedgerFollower(ledger, filter)
    let isOver = Lock(false)
    context.signals?.handle { _, _ in
      isOver.withLock { $0 = true }
      return true
    }
    let watch = LedgerWatch(ledger: ledger, clock: context.clock) { usleep(UInt32(clamping: $0 * 1000)) }
    _ = try watch.until { isDue throws(CommandFailure) -> Bool? in
      // Before the rows are read: what the last engine wrote at its end is then among them.
      let isIdle = untilIdle ? try !engineRuns(ledger, context) : false
      if isDue || isIdle { try follower.advance { printer.print($0) } }
      return isIdle || isOver.withLock(\.self) || printer.isClosed || context.out.lostItsReader ? true : nil
    }
    try printer.finish()
  }

  private func engineRuns(_ ledger: Ledger, _ context: Context) throws(CommandFailure) -> Bool {
    let run = try LedgerAccess.read(ledger) { try $0.newestRun() }
    return EngineStatus(run, context.clock).alive
  }
}

/// Something that was recorded.
enum FollowedRow: Sendable {
  case event(EventRow)
  case attempt(FollowedAttempt)

  var atMs: Int64 {
    switch self {
    case .event(let event): event.atMs
    case .attempt(let followed): followed.attempt.endedMs ?? followed.attempt.startedMs
    }
  }
}

/// Knows what was told already: each event once, and each attempt once when it has ended.
struct LedgerFollower {
  private let ledger: Ledger
  private let filter: RowFilter
  private var lastEvent: Int64 = 0
  private var lastAttempt: Int64 = 0
  private var open: [AttemptID] = []
  private static let pageSize = 500

  /// Begins at `filter.sinceMs`, or with what comes next.
  init(_ ledger: Ledger, _ filter: RowFilter) throws(CommandFailure) {
    self.ledger = ledger
    self.filter = filter
    guard filter.sinceMs == nil else { return }
    let begin = try LedgerAccess.read(ledger) { (try $0.newestNumbers(), try $0.openAttempts(filter)) }
    (lastEvent, lastAttempt, open) = (begin.0.event, begin.0.attempt, begin.1)
  }

  /// Hands over what is new, oldest first, in pages of one snapshot each.
  mutating func advance(_ tell: ([FollowedRow]) -> Void) throws(CommandFailure) {
    while true {
      let page = try LedgerAccess.read(ledger) { [self] in try Page($0, self) }
      // A page that is not full was read to the end; rows that the filter leaves out are not read again.
      let (isLastEvents, isLast) = (page.events.count < Self.pageSize, page.attempts.count < Self.pageSize)
      lastEvent = isLastEvents ? page.newest.event : page.events.last?.id ?? lastEvent
      lastAttempt = isLast ? page.newest.attempt : page.attempts.last?.attempt.id.rawValue ?? lastAttempt
      open = page.open.filter { $0.rawValue <= lastAttempt }
      let rows = page.events.map(FollowedRow.event) + (page.ended + page.attempts).map(FollowedRow.attempt)
      if !rows.isEmpty { tell(rows.enumerated().sorted { ($0.1.atMs, $0.0) < ($1.1.atMs, $1.0) }.map(\.1)) }
      if isLastEvents, isLast { return }
    }
  }

  /// What is new in one snapshot.
  private struct Page {
    let newest: (event: Int64, attempt: Int64)
    let events: [EventRow]
    /// Those that were known to be open, and others.
    let ended, attempts: [FollowedAttempt]
    let open: [AttemptID]

    init(_ reader: LedgerReader, _ follower: LedgerFollower) throws {
      let filter = follower.filter
      newest = try reader.newestNumbers()
      events = try reader.eventParts(filter, after: follower.lastEvent, limit: LedgerFollower.pageSize)
      ended = try reader.endedAttempts(filter, after: 0, among: follower.open)
      attempts = try reader.endedAttempts(filter, after: follower.lastAttempt, limit: LedgerFollower.pageSize)
      open = try reader.openAttempts(filter)
    }
  }
}
