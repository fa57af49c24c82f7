import ArgumentParser
import Transfers
import TransferModel

/// `transfers pause`: no more of these files for now.
struct PauseCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Stop sending files until \"transfers resume\".",
    discussion: """
      Works with the engine running (within a second), stopped or crashed. Requests that are running are finished first; \
      what the server has acknowledged stays.

      Examples:
        transfers pause --last
        transfers pause --host up3.example --now
      """)

  @OptionGroup var control: ControlOptions
  @Flag(help: "Interrupt running requests too; they restart.") var now = false

  var common: CommonOptions { control.common }

  func execute(_ context: Context) throws(CommandFailure) {
    let words = ControlWords(
      verb: "pause", done: "paused", goal: .paused, next: "transfers resume\(control.selection.words)")
    try ControlRunner(verb: .pause(now: now), words: words, options: control, context: context).run()
  }
}
