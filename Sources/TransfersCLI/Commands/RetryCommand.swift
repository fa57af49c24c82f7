import ArgumentParser
import Transfers
import TransferModel

/// `transfers retry`: queues failed files again.
struct RetryCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Queue failed, cancelled or unknown files for the next run.",
    discussion: """
      The history is kept: a retry is a new attempt. An unknown file may be stored twice if its protocol cannot query \
      the result; selecting it here permits that. Without --state and file IDs only failed files are selected.
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

  /// Without a state only failed files are retried: the hint names others that can be.
  private static func hint(_ asked: RowFilter, _ ledger: OpenStore) throws(CommandFailure) -> String? {
    guard asked.states.isEmpty else { return nil }
    var others = asked
    others.states = [.cancelled, .unknown]
    let totals = try LedgerAccess.read(ledger) { [others] in try $0.stateTotals(others) }
    let found = others.states.filter { totals.count($0) > 0 }
    guard !found.isEmpty else { return nil }
    let counts = found.map { "\(totals.count($0)) \($0.rawValue)" }.joined(separator: " and ")
    let states = found.map(\.rawValue).joined(separator: ",")
    return "no failed file, but \(counts); those are tried again with --state \(states)"
  }

  /// File IDs select these files in any state; wider selections mean failed ones.
  private static func retryable(_ filter: RowFilter) throws(CommandFailure) -> RowFilter {
    var filter = filter
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
