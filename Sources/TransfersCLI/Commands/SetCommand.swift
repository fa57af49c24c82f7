import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers set`: changes settings of batches.
struct SetCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Change priority, limits, deadline or labels of batches; also while they run.",
    discussion: """
      A running engine reacts within a second. Selections other than file IDs are resolved to their batches. --label \
      sets a label here; it does not select.

      Examples:
        transfers set --last --rate 20M
        transfers set b12 --workers 4 --deadline 8h
        transfers set --batch nightly --rate none --label run=42 --label lane=
      """)

  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Changes") var changes: ChangeOptions

  @Flag(name: [.customShort("n"), .long], help: "Only print the IDs that would change; changes nothing.")
  var dryRun = false

  @Flag(help: "Exit with 9 when nothing matches.")
  var failIfEmpty = false

  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let change = try changes.change(context)
    let path = try common.storePath(context)
    try common.checkColumns(of: SetOutput(BatchOutcome(), dryRun: false, engineRuns: false), context)
    let ledger = try dryRun ? LedgerAccess.open(path, context) : LedgerAccess.openForWriting(path, context)
    defer { ledger.close() }
    let selection = rows.selection
    let filter = try selection.filter(ledger, context)
    if selection.isEmpty { try refuseEmptySelection(filter, change, ledger) }
    if !filter.files.isEmpty, filter.batches.isEmpty { try refuseFiles(filter, ledger) }
    let outcome = try dryRun ? plan(filter, change, ledger) : apply(filter, change, ledger, context)
    let engine = try LedgerAccess.read(ledger) { try $0.engine(context.clock) }
    let value = SetOutput(
      outcome, dryRun: dryRun, engineRuns: engine.isAlive)
    let isEmpty = outcome.changed.isEmpty && outcome.unaffected.isEmpty
    if !isEmpty || !common.format.isForPeople {
      try common.print(value, store: StoreIdentity(ledger), filters: selection.filters, context)
    }
    if isEmpty { try EmptySelection.tell(failIfEmpty, common, context) }
  }

  private func plan(_ filter: RowFilter, _ change: BatchChange, _ ledger: OpenStore) throws(CommandFailure)
    -> BatchOutcome
  {
    try LedgerAccess.read(ledger) { try $0.outcome(of: change, filter) }
  }

  private func apply(
    _ filter: RowFilter, _ change: BatchChange, _ ledger: OpenStore, _ context: Context
  ) throws(CommandFailure) -> BatchOutcome {
    try failing { () throws(TransferError) in
      try ledger.changeBatches(filter, change, between: WriteThrottle(context.clock).rest)
    }
  }

  private func refuseEmptySelection(
    _ filter: RowFilter, _ change: BatchChange, _ ledger: OpenStore
  ) throws(CommandFailure) {
    let count = Quantity.count(try plan(filter, change, ledger).changed.count, "batch")
    throw .usage(
      "set needs to know which batches; --all would change \(count)",
      remedy: "transfers set --last …, or --all; transfers help selectors")
  }

  /// Settings belong to batches; a file ID would change its whole batch unexpectedly.
  private func refuseFiles(_ filter: RowFilter, _ ledger: OpenStore) throws(CommandFailure) {
    let batches = try LedgerAccess.read(ledger) { try $0.batchIDs(filter, limit: 4) }.map(\.description)
    let some = batches.prefix(3).joined(separator: " ") + (batches.count > 3 ? " …" : "")
    throw .usage("set works on batches, not files", remedy: "transfers set \(some) …")
  }
}

/// What `set` can change.
struct ChangeOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Higher values are sent first.", valueName: "n"))
  var priority: Int64?

  @Option(help: ArgumentHelp("Limit for each of these batches: 20M, 20MB/s, or none.", valueName: "bytes/s"))
  var rate: Limit<ByteRate>?

  @Option(help: ArgumentHelp("Concurrent requests for each of these batches, 1 to 256, or none.", valueName: "n"))
  var workers: Limit<WorkerCount>?

  @Option(
    help: ArgumentHelp(
      "No request begins after this time: 8h (from now), 2026-11-22T06:00, or none.", valueName: "time"))
  var deadline: String?

  @Option(
    name: .customLong("label"),
    help: ArgumentHelp("Set a label; key= removes it; repeatable.", valueName: "key=value"))
  var labels: [String] = []

  @Option(
    help: ArgumentHelp(
      "keep: keep the sources that \"--after\" has not deleted or moved yet. Cannot be undone.", valueName: "keep")
  )
  var after: FateWord?

  func validate() throws {
    if priority == nil, rate == nil, workers == nil, deadline == nil, labels.isEmpty, after == nil {
      throw ValidationError(
        "set needs something to change: --priority, --rate, --workers, --deadline, --label or --after keep")
    }
    if let after, after.fate != .keep {
      throw ValidationError(
        "set takes only --after keep: sources are deleted or moved when \"push\" or \"add\" said so")
    }
    if let bad = labels.first(where: { ($0.firstIndex(of: "=") ?? $0.startIndex) == $0.startIndex }) {
      throw ValidationError("--label \"\(bad)\" is not key=value")
    }
  }

  func change(_ context: Context) throws(CommandFailure) -> BatchChange {
    var change = BatchChange()
    change.priority = priority
    change.keepsSources = after != nil
    change.rate = rate?.mapped(\.bytesPerSecond)
    change.workers = workers?.mapped(\.count)
    change.deadlineMs = try deadline.map { (text) throws(CommandFailure) in try Self.deadline(text, context) }
    for label in labels {
      let parts = label.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      change.labels.updateValue(parts[1].isEmpty ? nil : parts[1], forKey: parts[0])
    }
    return change
  }

  private static func deadline(_ text: String, _ context: Context) throws(CommandFailure) -> BatchChange.Limit {
    if text == "none" { return .lifted }
    guard let ms = Moment(text: text)?.wallMs(context.clock, lastRunMs: 0, spansGoForward: true) else {
      throw .usage("--deadline \"\(printable(text))\" is not a time", remedy: "8h, 2026-11-22T06:00 or none")
    }
    guard ms > context.clock.wallMs else {
      throw .usage(
        "--deadline \"\(printable(text))\" is past", remedy: "give a future time, or use \"transfers pause\"")
    }
    return .to(ms)
  }
}

/// A limit as it is typed: a value, or `none`.
enum Limit<Value: ExpressibleByArgument & Sendable>: ExpressibleByArgument, Sendable {
  case none
  case to(Value)

  init?(argument: String) {
    if argument == "none" {
      self = .none
    } else {
      guard let value = Value(argument: argument) else { return nil }
      self = .to(value)
    }
  }

  func mapped(_ number: (Value) -> Int64) -> BatchChange.Limit {
    switch self {
    case .none: .lifted
    case .to(let value): .to(number(value))
    }
  }
}

/// How many requests at once: 1 to 256.
struct WorkerCount: ExpressibleByArgument, Sendable {
  let count: Int64

  init?(argument: String) {
    guard let count = Int64(argument), (1...256).contains(count) else { return nil }
    self.count = count
  }
}

/// What `set` did, or with `-n` would do.
struct SetOutput: OutputValue {
  let dryRun: Bool
  let changed, unaffected: Int
  /// IDs of the changed batches.
  let ids: [String]
  let engineRuns: Bool

  init(_ outcome: BatchOutcome, dryRun: Bool, engineRuns: Bool) {
    self.dryRun = dryRun
    (changed, unaffected) = (outcome.changed.count, outcome.unaffected.count)
    ids = outcome.changed.map(\.description)
    self.engineRuns = engineRuns
  }

  static let form = ReportForm<SetOutput>(
    "transfers.set/1", rows: "ids",
    [
      .facts([
        .flag("dry_run") { $0.dryRun },
        .integer("changed", "") { $0.changed }.saying { $0.change },
        .flag("engine_runs") { $0.engineRuns },
        .list("ids", "") { $0.ids }.saying { $0.dryRun ? $0.ids.map { "  \($0)\n" }.joined() : nil },
        .integer("unaffected", "") { $0.unaffected }.saying { output in
          output.unaffected > 0 ? "unchanged: \(Quantity.count(output.unaffected, "batch")) already set" : nil
        },
      ])
    ])

  private var change: String? {
    if dryRun { return "would change \(Quantity.count(changed, "batch"))" }
    guard changed > 0 else { return nil }
    return "\(Quantity.count(changed, "batch")) changed\(engineRuns ? "; the running engine follows" : "")"
  }
}
