import ArgumentParser
import Transfers
import TransferModel

/// `transfers pause`: stops sending files until they are resumed.
struct PauseCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Stop transferring files until \"transfers resume\".",
    discussion: """
      Works whether the engine runs (it reacts within a second), is stopped, or has crashed. Running requests are \
      finished first; bytes acknowledged by the server are kept.

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
