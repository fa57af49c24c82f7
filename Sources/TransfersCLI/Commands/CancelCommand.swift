import ArgumentParser
import Transfers
import TransferModel

/// `transfers cancel`: ends files for good.
struct CancelCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel files: they are not sent, and not retried automatically.",
    discussion: """
      What was begun at the server is ended there, by the running engine or by the next run. Files that are done stay \
      done. "transfers retry" takes a cancelled file up again.
      """)

  @OptionGroup var control: ControlOptions

  var common: CommonOptions { control.common }

  func execute(_ context: Context) throws(CommandFailure) {
    let words = ControlWords(verb: "cancel", done: "cancelled", goal: .cancelled)
    try ControlRunner(verb: .cancel, words: words, options: control, context: context).run()
  }
}
