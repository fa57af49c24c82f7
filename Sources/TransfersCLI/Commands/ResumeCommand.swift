import ArgumentParser
import Transfers
import TransferModel

/// `transfers resume`: continues paused files.
struct ResumeCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Continue paused files.",
    discussion: "A running engine continues them within a second; otherwise the next \"transfers run\" does.")

  @OptionGroup var control: ControlOptions

  var common: CommonOptions { control.common }

  func execute(_ context: Context) throws(CommandFailure) {
    let words = ControlWords(
      verb: "resume", done: "resumed", goal: .pending, next: "transfers run", nextNeedsNoEngine: true)
    try ControlRunner(verb: .resume, words: words, options: control, context: context).run()
  }
}
