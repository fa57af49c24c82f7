import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// The selection of rows, with the same options for every command. See ``SelectorHelp``.
struct SelectionOptions: ParsableArguments {
  @OptionGroup var rows: RowOptions

  @Option(
    name: .customLong("label"), help: ArgumentHelp("Only batches with this label; repeatable.", valueName: "key=value"))
  var labels: [String] = []

  private var selection: Selection { rows.selection.with(labels: labels) }

  /// The selection with this ID added.
  func adding(_ id: String?) -> SelectionOptions {
    var options = self
    if let id { options.rows.ids.insert(id, at: 0) }
    return options
  }

  /// Nothing was selected; not even everything.
  var isEmpty: Bool { selection.isEmpty }

  /// The selection for the document's `filters`.
  var filters: [String: Cell] { selection.filters }

  /// The options that narrow the selection, by name.
  var narrowing: [String] { selection.narrowing }

  /// The selection as arguments of another command.
  var words: String { selection.words }

  func filter(
    _ ledger: OpenStore, _ context: Context, finds extra: Selection.Extra = .none
  ) throws(CommandFailure) -> RowFilter {
    try selection.filter(ledger, context, finds: extra)
  }

  func validate() throws {
    if rows.all, !labels.isEmpty { throw ValidationError("--all selects everything and excludes --label") }
    if let bad = labels.first(where: { ($0.firstIndex(of: "=") ?? $0.startIndex) == $0.startIndex }) {
      throw ValidationError("--label \"\(bad)\" is not key=value")
    }
  }
}

/// The selection without labels, for `set`, which sets them.
struct RowOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "IDs: b12 (batch), f345 (file), a range b12-b15, the beginning of a uid, or - for IDs from standard input.",
      valueName: "id"), completion: LedgerCompletion.ids)
  var ids: [String] = []

  @Option(
    name: .customLong("batch"), help: ArgumentHelp("Only this batch; repeatable.", valueName: "id or name"),
    completion: LedgerCompletion.batches)
  var batches: [String] = []

  @Option(
    name: .customLong("job"),
    help: ArgumentHelp("Only files and batches recorded by this configured job; repeatable.", valueName: "name"))
  var jobs: [String] = []

  @Option(
    name: .customLong("dest"),
    help: ArgumentHelp(
      "Only transfers to this destination: a part of the destination, or a glob for all of it.", valueName: "text"))
  var destinations: [String] = []

  @Option(name: .customLong("host"), help: ArgumentHelp("Only transfers to or from this host.", valueName: "glob"))
  var hosts: [String] = []

  @Option(
    name: .customLong("path"),
    help: ArgumentHelp("Only sources with this path, or an end of it; * also matches slashes.", valueName: "glob"))
  var paths: [NameBytes] = []

  @Option(
    name: .customLong("state"),
    help: ArgumentHelp(
      "Only files in these states: pending, active, done, failed, unknown, backoff, unfinished …; comma-separated.",
      valueName: "states"))
  var states: [String] = []

  @Option(
    name: .customLong("error"),
    help: ArgumentHelp("Only failures with this error code: net.*, http.503; comma-separated.", valueName: "globs"))
  var errors: [String] = []

  @Option(help: ArgumentHelp("Only from this time on: 24h, today, 2026-11-01, last-run.", valueName: "time"))
  var since: String?

  @Option(help: ArgumentHelp("Only before this time.", valueName: "time"))
  var until: String?

  @Option(help: ArgumentHelp("Only this direction: up or down.", valueName: "way"))
  var direction: DirectionWord?

  @Option(help: ArgumentHelp("Only files of this size or more: 0, 4096, 20M.", valueName: "size"))
  var minSize: SizeBound?

  @Option(help: ArgumentHelp("Only files of this size or less.", valueName: "size"))
  var maxSize: SizeBound?

  @Option(
    help: ArgumentHelp(
      "Only files that took longer than this from their first attempt to their end: 90s, 10m.", valueName: "time"))
  var slowerThan: SpanBound?

  @Option(help: ArgumentHelp("Only files with this number of attempts: 3, '>3', '<=2', 2-5.", valueName: "number"))
  var attempts: CountBound?

  @Flag(help: "Only done files that the server confirmed with nothing but success.")
  var unverified = false

  @Flag(help: "Everything.")
  var all = false

  @Flag(help: "Only the newest batch.")
  var last = false

  @Flag(help: "Include files hidden by clean and rm.")
  var hidden = false

  var selection: Selection {
    Selection(
      ids: ids, batches: batches, jobs: jobs, destinations: destinations, hosts: hosts, labels: [], paths: paths,
      states: Self.words(states), errors: Self.words(errors), since: since, until: until, facts: facts, all: all,
      last: last, hidden: hidden)
  }

  private var facts: FileTerms {
    FileTerms(
      direction: direction, minSize: minSize, maxSize: maxSize, slowerThan: slowerThan, attempts: attempts,
      unverified: unverified)
  }

  /// Refuses contradictory combinations.
  func validate() throws {
    if all, let other = selection.narrowing.first {
      throw ValidationError("--all selects everything and excludes \(other)")
    }
    if let minSize, let maxSize, minSize.bytes > maxSize.bytes {
      throw ValidationError("--min-size \(minSize.text) is more than --max-size \(maxSize.text): no file can match")
    }
    let lists: [(String, [String])] = [("--state", states), ("--error", errors)]
    if let (option, _) = lists.first(where: { $1.contains { Self.words([$0]).isEmpty } }) {
      throw ValidationError("\(option) has no value; give \(option) a value, or leave it out")
    }
    if last, !batches.isEmpty { throw ValidationError("--last and --batch name different batches") }
  }

  private static func words(_ lists: [String]) -> [String] {
    lists.flatMap { $0.split(separator: ",").map(String.init) }
  }
}
