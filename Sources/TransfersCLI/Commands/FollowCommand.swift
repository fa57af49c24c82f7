import ArgumentParser
import Transfers
import TransferModel
import TransferReports

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `transfers follow`: prints events as they are recorded.
struct FollowCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "follow", abstract: "Print events and ends of requests as they are recorded, like tail -f.",
    discussion: """
      Prints new entries only; with --since also those recorded since that time. --json prints one record per line. \
      Ends with Ctrl-C or SIGTERM, when the reader closes the pipe, or with --until-idle when no engine runs.
      """)

  @OptionGroup(title: "Selection") var selection: SelectionOptions
  @Flag(help: "End when no engine runs.") var untilIdle = false
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if selection.rows.until != nil { throw ValidationError("follow ends only with --until-idle; leave out --until") }
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
      // Checked before the rows are read, so that the last rows of an ending engine are included.
      let isIdle = untilIdle ? try !engineRuns(ledger, context) : false
      if isDue || isIdle { try follower.advance { printer.print($0) } }
      return isIdle || isOver.withLock(\.self) || printer.isClosed || context.out.lostItsReader ? true : nil
    }
    try printer.finish()
  }

  private func engineRuns(_ ledger: OpenStore, _ context: Context) throws(CommandFailure) -> Bool {
    try LedgerAccess.read(ledger) { try $0.engine(context.clock) }.isAlive
  }
}

/// Remembers its position: reports each event once, and each attempt once when it has ended.
struct LedgerFollower {
  private let ledger: OpenStore
  private let filter: RowFilter
  private var cursor = EventCursor.beginning

  /// Begins at `filter.sinceMs`, or with the next entry.
  init(_ ledger: OpenStore, _ filter: RowFilter) throws(CommandFailure) {
    self.ledger = ledger
    self.filter = filter
    guard filter.sinceMs == nil else { return }
    cursor = try LedgerAccess.read(ledger) { try $0.newestCursor(filter) }
  }

  /// Passes new entries, oldest first, in pages of one snapshot each.
  mutating func advance(_ tell: ([RecordedEvent]) -> Void) throws(CommandFailure) {
    while true {
      let page = try LedgerAccess.read(ledger) { [filter, cursor] in try EventPage($0, filter, after: cursor) }
      cursor = page.end
      let rows = page.rows.map(\.row)
      if !rows.isEmpty { tell(rows.enumerated().sorted { ($0.1.atMs, $0.0) < ($1.1.atMs, $1.0) }.map(\.1)) }
      if page.isLast { return }
    }
  }
}
