import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers gc`: upload sessions that were left at servers.
struct GcCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "gc", abstract: "List unfinished uploads left on servers, and abort them.",
    discussion: """
      A session is listed if its file is not being transferred, or if it is to be aborted. The session of a failed \
      file is kept if the data on the server is still usable: "transfers retry" continues it. With --abort it is \
      aborted as well, and a retry starts afresh. Sessions of files that wait, are paused or have an unknown outcome are only \
      counted: they are needed to continue. Only sessions that this ledger created are ever aborted.
      """)

  @OptionGroup(title: "Selection") var selection: SelectionOptions
  @Flag(help: "Abort them on their servers now.") var abort = false
  @Flag(name: [.customShort("n"), .long], help: "Only list the sessions that --abort would abort; changes nothing.")
  var dryRun = false
  @OptionGroup(title: "Progress") var progress: ProgressOptions
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    if abort { try abortThem(context) }
    let left = try list(context)
    guard abort, !dryRun, left > 0 else { return }
    throw CommandFailure(
      .workLeft, "\(Quantity.count(left, "session")) could not be aborted yet",
      remedy: "check the causes and run \"transfers gc --abort\" again; most servers also expire sessions")
  }

  /// Prints the sessions; returns their number.
  private func list(_ context: Context) throws(CommandFailure) -> Int {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context, finds: .sessions).withHidden
    var printer = RowPrinter(
      schema: "transfers.gc/1", rowType: "session", store: try StoreIdentity(ledger), filters: selection.filters,
      common, context)
    var (last, count): (Int64, Int) = (0, 0)
    while !printer.isClosed {
      let rows = try LedgerAccess.read(ledger) { try $0.abandonedSessions(filter, after: last, limit: Self.pageSize) }
      printer.print(FigureTable(AbandonedSessionFigures.columns, rows))
      count += rows.count
      guard rows.count == Self.pageSize, let final = rows.last else { break }
      last = final.id.rawValue
    }
    let lost = try LedgerAccess.read(ledger) { try $0.lostCreations(filter) }
    let used = try LedgerAccess.read(ledger) { try $0.sessionsInUse(filter) }
    try printer.finish(
      empty: Self.emptyText(lost: lost, used: used),
      summary: FigureObject([("lost_creations", Cell(lost)), ("in_use", Cell(used))]))
    if lost > 0 { context.err.writeLine(Self.lostText(lost)) }
    return count
  }

  /// What is said instead of an empty list. `used` is the number of sessions of files that have not ended.
  static func emptyText(lost: Int64, used: Int64) -> String {
    if used > 0 {
      let belong = used == 1 ? "1 session belongs to a file that has" : "\(used) sessions belong to files that have"
      return
        "no sessions are to be aborted; \(belong) not ended (\"transfers cancel\" ends a file and aborts its session)"
    }
    return lost == 0 ? "no sessions are left on servers" : "no sessions with a known URL or ID are left"
  }

  private static func lostText(_ count: Int64) -> String {
    "\(Quantity.count(Int(count), "creation")) lost \(count == 1 ? "its" : "their") answer: the ID of a session that "
      + "the server created then is unknown, so it cannot be aborted; servers expire unfinished uploads eventually"
  }

  private static let pageSize = 500

  private func abortThem(_ context: Context) throws(CommandFailure) {
    let path = try common.storePath(context)
    let ledger = try dryRun ? LedgerAccess.open(path, context) : LedgerAccess.openForWriting(path, context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context, finds: .sessions).withHidden
    try refuseEmptySelection(filter, ledger)
    if dryRun { return }
    let given = try failing { () throws(TransferError) in try ledger.giveUpAbandonedSessions(filter) }
    guard given > 0 else { return }
    if try LedgerAccess.read(ledger, { try $0.engine(context.clock) }).isAlive {
      return context.err.writeLine("the running engine aborts them when it has nothing left to send")
    }
    var options = RunOptions(argv: RecordedArguments.masked(context.arguments))
    options.onlyEndsSessions = true
    let session = EngineSession(common, progress, title: "transfers gc", context)
    defer { session.end() }
    let result = try failing { () throws(TransferError) in try session.run(path, options) }
    if let error = result.error { throw CommandFailure(error) }
  }

  private func refuseEmptySelection(_ filter: RowFilter, _ ledger: OpenStore) throws(CommandFailure) {
    guard selection.isEmpty else { return }
    let count = try LedgerAccess.read(ledger) { try $0.abandonedSessions(filter, after: 0, limit: .max).count }
    throw .usage(
      "gc --abort needs to know which sessions; --all would abort \(Quantity.count(count, "session"))",
      remedy: "transfers gc --abort --all, or a selection of files; transfers help selectors")
  }
}
