import ArgumentParser
import Transfers
import TransferModel

/// `transfers retry`: failed files get another chance.
struct RetryCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Let failed, cancelled or unknown files be tried again by the next run.",
    discussion: """
      History stays: a retry is a new attempt. A file whose outcome is unknown may be stored twice when its protocol \
      has no way to ask; naming it here is the permission for that. Without --state and without ids of files only \
      failed files are taken.
      """)

  @OptionGroup var control: ControlOptions
  @Flag(help: "Start over: parts that the server has are sent again.") var reset = false

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

  /// Failed files are meant where no state is said: others that can be retried are named.
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

  /// Ids that name files mean those files whatever their state; everything wider means failed ones.
  private static func retryable(_ filter: RowFilter) throws(CommandFailure) -> RowFilter {
    var filter = filter
    if filter.isBackingOff {
      throw .usage("a file that is backing off is tried again by itself", remedy: "--state failed,cancelled,unknown")
    }
    if filter.states.isEmpty {
      // Of named files those that need no retry are told too.
      if filter.files.isEmpty { filter.states = [.failed] }
    } else if let other = filter.states.first(where: { !states.contains($0) }) {
      throw .usage("a file that is \(other.rawValue) cannot be retried", remedy: "--state failed,cancelled,unknown")
    }
    return filter
  }
}
