import ArgumentParser
import Transfers
import TransferModel

/// `transfers resolve`: a person decides about files that may have arrived.
struct ResolveCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "resolve", abstract: "Decide about files whose outcome is unknown.",
    discussion: """
      The answer to a request was lost, and its protocol cannot query the result: check the server yourself, then \
      choose. --done: the file arrived; the receipt has the proof "none" and your reason. --retry: it did not arrive, \
      or may arrive twice. --cancel: it is no longer needed. The reason is recorded. This also decides about files that \
      were cancelled while their request may have arrived. Others are not changed; pushing changed content needs no \
      resolve.

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
      narrow: Self.undecided
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

  /// File IDs select these files in any state, and those that cannot be resolved are reported as unchanged; wider
  /// selections mean files that nobody has decided about.
  private static func undecided(_ filter: RowFilter) throws(CommandFailure) -> RowFilter {
    guard !filter.isBackingOff, Set([.unknown, .cancelled]).isSuperset(of: filter.states) else {
      throw .usage(
        "only unknown files can be resolved, and cancelled ones that may have arrived",
        remedy: "--state unknown or cancelled, or no --state")
    }
    var filter = filter
    filter.isUndecided = filter.files.isEmpty || !filter.states.isEmpty
    if filter.states == [.unknown] { filter.states = [] }
    return filter
  }
}
