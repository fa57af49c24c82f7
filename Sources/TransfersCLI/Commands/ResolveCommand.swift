import ArgumentParser
import Transfers
import TransferModel

/// `transfers resolve`: a person decides about unknown files.
struct ResolveCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "resolve", abstract: "Decide about files whose outcome is unknown.",
    discussion: """
      The answer to a request was lost, and its protocol cannot query the result: check the server yourself, then \
      choose. --done: the file arrived; the receipt has the proof "none" and your reason. --retry: it did not arrive, \
      or may arrive twice. --cancel: it is no longer needed. The reason is recorded. Files in other states are not \
      changed; pushing changed content needs no resolve.

      Examples:
        transfers resolve f17 --done --reason "seen in the inbox, same size"
        transfers resolve --last --retry --reason "not in the list of the server"
      """)

  @OptionGroup var control: ControlOptions
  @Flag(name: .customLong("done"), help: "They arrived.") var isDone = false
  @Flag(name: .customLong("retry"), help: "They did not arrive: send them again.") var isToRetry = false
  @Flag(name: .customLong("cancel"), help: "Cancel them.") var isToCancel = false
  @Option(help: ArgumentHelp("The reason for your decision; recorded, up to 1000 bytes.", valueName: "text"))
  var reason: String

  private static let reasonLimit = 1_000

  var common: CommonOptions { control.common }

  private var resolutions: [Resolution] {
    [(isDone, Resolution.done), (isToRetry, .retry), (isToCancel, .cancel)].filter(\.0).map(\.1)
  }

  func validate() throws {
    guard resolutions.count == 1 else { throw ValidationError("resolve takes one of --done, --retry and --cancel") }
    guard reason.contains(where: { !$0.isWhitespace }) else { throw ValidationError("--reason must not be empty") }
    guard reason.utf8.count <= Self.reasonLimit else {
      throw ValidationError("--reason is longer than \(Self.reasonLimit) bytes")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let resolution = resolutions[0]
    let reason = RecordedArguments.masked([reason])[0]
    try ControlRunner(
      verb: .resolve(resolution, reason: reason), words: Self.words(resolution), options: control, context: context,
      narrow: Self.unknown
    ).run()
  }

  private static func words(_ resolution: Resolution) -> ControlWords {
    switch resolution {
    case .done: ControlWords(verb: "resolve", phrase: "resolve as done", done: "resolved as done")
    case .retry:
      ControlWords(
        verb: "resolve", phrase: "retry", done: "will be tried again", next: "transfers run", nextNeedsNoEngine: true)
    case .cancel: ControlWords(verb: "resolve", phrase: "cancel", done: "cancelled")
    }
  }

  /// File IDs select these files in any state, and others than unknown ones are reported as unchanged; wider selections
  /// mean unknown files.
  private static func unknown(_ filter: RowFilter) throws(CommandFailure) -> RowFilter {
    var filter = filter
    if filter.states.isEmpty, !filter.isBackingOff {
      if filter.files.isEmpty { filter.states = [.unknown] }
    } else if filter.isBackingOff || filter.states != [.unknown] {
      throw .usage("only unknown files can be resolved", remedy: "--state unknown, or no --state")
    }
    return filter
  }
}
