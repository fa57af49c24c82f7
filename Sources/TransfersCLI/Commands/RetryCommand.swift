import ArgumentParser
import Transfers
import TransferModel

/// `transfers retry`: queues failed files again.
struct RetryCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Queue failed, cancelled or unknown files for the next run.",
    discussion: """
      The history is kept: a retry is a new attempt. An unknown file may be stored twice if its protocol cannot query \
      the result; selecting it here permits that. So may a cancelled one whose request may have arrived: it is sent again \
      only if its ID is given, or with "resolve --retry". Without --state and file IDs only failed files are selected.
      """)

  @OptionGroup var control: ControlOptions
  @Flag(help: "Start over: parts that the server already has are sent again.") var reset = false

  /// The states that a retry starts from.
  private static let states: [FileState] = [.failed, .cancelled, .unknown]

  var common: CommonOptions { control.common }

  func execute(_ context: Context) throws(CommandFailure) {
    let words = ControlWords(
      verb: "retry", done: "will be tried again", next: "transfers run", nextNeedsNoEngine: true)
    try ControlRunner(
      verb: .retry(startsOver: reset), words: words, options: control, context: context, hint: Self.hint,
      narrow: Self.retryable
    ).run()
  }

  /// Without a state only failed files are retried: names others that can be, or else those that were selected.
  private static func hint(_ asked: RowFilter, _ ledger: OpenStore) throws(CommandFailure) -> String? {
    guard asked.states.isEmpty else { return nil }
    let totals = try LedgerAccess.read(ledger) { try $0.stateTotals(asked) }
    func counts(_ states: [FileState]) -> [String] { states.map { "\(totals.count($0)) \($0.rawValue)" } }
    let all = FileState.allCases.filter { totals.count($0) > 0 }
    guard !all.isEmpty else { return nil }
    let found = [FileState.cancelled, .unknown].filter { totals.count($0) > 0 }
    guard !found.isEmpty else { return "nothing to retry: \(counts(all).joined(separator: ", "))" }
    let states = found.map(\.rawValue).joined(separator: ",")
    return "nothing to retry: no failed file, but \(counts(found).joined(separator: " and ")); those are tried again "
      + "with --state \(states)"
  }

  /// File IDs select these files in any state; wider selections mean failed ones.
  private static func retryable(_ filter: RowFilter) throws(CommandFailure) -> RowFilter {
    var filter = filter
    filter.sparesUncertain = filter.files.isEmpty
    if filter.isBackingOff {
      throw .usage("a file in backoff is retried automatically", remedy: "--state failed,cancelled,unknown")
    }
    if filter.states.isEmpty {
      // For given file IDs, files that need no retry are reported too.
      if filter.files.isEmpty { filter.states = [.failed] }
    } else if let other = filter.states.first(where: { !states.contains($0) }) {
      throw .usage("a file that is \(other.rawValue) cannot be retried", remedy: "--state failed,cancelled,unknown")
    }
    return filter
  }
}
