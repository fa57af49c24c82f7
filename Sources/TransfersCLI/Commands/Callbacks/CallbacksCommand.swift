import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers callbacks`: the callback queue.
struct CallbacksCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "callbacks", abstract: "List, deliver, retry and cancel callbacks.",
    subcommands: [
      CallbacksListCommand.self, CallbacksDeliverCommand.self, CallbacksRetryCommand.self, CallbacksCancelCommand.self,
    ])
}

/// `transfers callbacks list`.
struct CallbacksListCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List callbacks that are waiting or were given up.")

  @Flag(help: "Include delivered and cancelled ones.") var all = false
  @OptionGroup var common: CommonOptions

  static let columns = CallbackFigures.columns { CallbackText.shown($0) }
  private static let pageSize = 2_000

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    var printer = try RowPrinter(
      schema: "transfers.callbacks.list/1", rowType: "callback", store: StoreIdentity(ledger), common, context)
    var after: Int64 = 0
    while !printer.isClosed {
      let page = try LedgerAccess.read(ledger) { [after] in
        try $0.callbacks(after: after, isOpen: !all, limit: Self.pageSize)
      }
      printer.print(FigureTable(Self.columns, page))
      guard page.count == Self.pageSize, let last = page.last else { break }
      after = last.id
    }
    try printer.finish(empty: all ? "no callbacks" : "no callbacks are waiting")
  }
}

/// `transfers callbacks deliver`.
struct CallbacksDeliverCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "deliver", abstract: "Deliver the callbacks that are due now.",
    discussion: """
      Each run also delivers them. A failed delivery is retried after a wait that grows to an hour, and given up after \
      60 attempts. If another process is already delivering, this command leaves them to it.
      """)

  @Option(help: ArgumentHelp("Maximum duration (default: 5m).", valueName: "time")) var within: TimeSpan?
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let path = try common.storePath(context)
    context.catchSignals()
    let left = try failing { () throws(TransferError) in
      try context.store(path).deliverCallbacks(
        withinMs: within?.ms ?? 300_000, isStopped: context.isStopRequested)
    }
    try common.print(
      CallbackCount(waiting: left.waiting, givenUp: left.givenUp), store: StoreIdentity.read(path, context), context)
  }
}

/// Callbacks by number.
struct CallbackChoice: ParsableArguments {
  @Argument(help: ArgumentHelp("Numbers of callbacks (transfers callbacks list).", valueName: "id")) var ids: [Int64] =
    []
  @Flag(help: "All of them.") var all = false

  func validate() throws {
    if ids.isEmpty != all { throw ValidationError("give the numbers of callbacks, or --all") }
  }

  var chosen: [Int64]? { all ? nil : ids }
}

/// `transfers callbacks retry`.
struct CallbacksRetryCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Queue callbacks that were given up or cancelled again.")

  @OptionGroup var choice: CallbackChoice
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    try CallbackCount.change(choice, common, context) { ledger throws(TransferError) in
      try ledger.retryCallbacks(choice.chosen)
    }
  }
}

/// `transfers callbacks cancel`.
struct CallbacksCancelCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel waiting callbacks; they are not delivered.")

  @OptionGroup var choice: CallbackChoice
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    try CallbackCount.change(choice, common, context) { ledger throws(TransferError) in
      try ledger.cancelCallbacks(choice.chosen)
    }
  }
}

/// How many callbacks were changed, and how many are left.
struct CallbackCount: OutputValue {
  var changed: Int?
  var waiting: Int
  var givenUp: Int

  static let form = ReportForm<CallbackCount>(
    "transfers.callbacks/1",
    [
      .facts([
        .integer("changed", "changed") { $0.changed }, .integer("waiting", "waiting") { $0.waiting },
        .integer("given_up", "given up") { $0.givenUp },
      ])
    ])

  /// - Throws: `.usage` if one of the numbers is unknown; then nothing is changed.
  static func change(
    _ choice: CallbackChoice, _ common: CommonOptions, _ context: Context,
    _ body: (OpenStore) throws(TransferError) -> Int
  ) throws(CommandFailure) {
    let path = try common.storePath(context)
    let ledger = try LedgerAccess.openForWriting(path, context)
    defer { ledger.close() }
    if let missing = try LedgerAccess.read(ledger, { try $0.missingCallback(among: choice.ids) }) {
      throw .noRow("callback", "\(missing)", remedy: "transfers callbacks list --all")
    }
    let value = try failing { () throws(TransferError) in
      let changed = try body(ledger)
      let left = try ledger.read { try $0.callbacksLeft() }
      return CallbackCount(changed: changed, waiting: left.waiting, givenUp: left.givenUp)
    }
    try common.print(value, store: StoreIdentity.read(path, context), context)
  }
}
