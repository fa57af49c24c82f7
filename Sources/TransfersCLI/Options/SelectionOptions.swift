import ArgumentParser
import TransferLedger
import TransferModel
import TransferReports

/// Which rows a command is about: one grammar for every command.
struct SelectionOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("Ids: b12 (batch), f345 (file), or a range b12-b15.", valueName: "id"))
  var ids: [String] = []

  @Option(name: .customLong("batch"), help: ArgumentHelp("Only this batch; repeatable.", valueName: "id or name"))
  var batches: [String] = []

  @Option(
    name: .customLong("state"),
    help: ArgumentHelp(
      "Only files in these states: pending, active, done, failed, unknown …; comma-separated.", valueName: "states"))
  var states: [String] = []

  @Option(help: ArgumentHelp("Only what failed like this: net.*, http.503.", valueName: "glob"))
  var error: String?

  @Flag(help: "Everything.")
  var all = false

  @Flag(help: "Only the newest batch.")
  var last = false

  /// Nothing was selected; not even everything.
  var isEmpty: Bool { ids.isEmpty && batches.isEmpty && states.isEmpty && error == nil && !all && !last }

  /// What was asked for, for the document's `filters`.
  var filters: [String: Cell] {
    var filters: [String: Cell] = [:]
    if !ids.isEmpty { filters["ids"] = .text(ids.joined(separator: ",")) }
    if !batches.isEmpty { filters["batch"] = .text(batches.joined(separator: ",")) }
    if !states.isEmpty { filters["state"] = .text(states.joined(separator: ",")) }
    if let error { filters["error"] = .text(error) }
    if last { filters["last"] = .flag(true) }
    return filters
  }

  /// Names resolved, ids checked against the ledger: an id or batch that is not there is an error, not an empty result.
  func filter(_ ledger: Ledger) throws(CommandFailure) -> RowFilter {
    var filter = RowFilter()
    for selector in try RowSelector.parse(ids) {
      switch selector.kind {
      case .batch: filter.batches.append(selector.range)
      case .file: filter.files.append(selector.range)
      case .chunk, .attempt: throw .usage("\"\(selector.text)\" selects no files", remedy: "a batch b12 or a file f345")
      }
    }
    try checkIDs(filter, ledger)
    for batch in batches { filter.batches.append(try resolve(batch, ledger)) }
    if last { filter.batches.append(try newest(ledger)) }
    filter.states = try parsedStates()
    filter.errors = error.map { [$0] } ?? []
    return filter
  }

  private func parsedStates() throws(CommandFailure) -> [FileState] {
    var parsed: [FileState] = []
    for word in states.flatMap({ $0.split(separator: ",") }) {
      guard let state = FileState(rawValue: String(word)) else {
        let known = FileState.allCases.map(\.rawValue).joined(separator: ", ")
        throw .usage("no file state \"\(printable(String(word)))\"", remedy: known)
      }
      parsed.append(state)
    }
    return parsed
  }

  private func checkIDs(_ filter: RowFilter, _ ledger: Ledger) throws(CommandFailure) {
    let missing = try failing { () throws(TransferError) in try ledger.read { try $0.firstMissing(filter) } }
    if let missing {
      throw .usage("no row \(missing) in this ledger", remedy: "transfers list batches")
    }
  }

  private func resolve(_ text: String, _ ledger: Ledger) throws(CommandFailure) -> ClosedRange<Int64> {
    let found = try failing { () throws(TransferError) in try ledger.read { try $0.batch(named: text) } }
    guard let id = found?.rawValue else {
      throw .usage("no batch \"\(printable(text))\" in this ledger", remedy: "transfers list batches")
    }
    return id...id
  }

  private func newest(_ ledger: Ledger) throws(CommandFailure) -> ClosedRange<Int64> {
    guard let id = try failing({ () throws(TransferError) in try ledger.read { try $0.newestBatch() } })?.rawValue
    else {
      throw .usage("this ledger has no batch yet", remedy: "transfers push SOURCE DESTINATION")
    }
    return id...id
  }
}
