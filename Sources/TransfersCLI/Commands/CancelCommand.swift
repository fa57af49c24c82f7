import ArgumentParser
import Transfers
import TransferModel

/// `transfers cancel`: ends files for good.
struct CancelCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel files: they are not transferred, and not retried automatically.",
    discussion: """
      The running engine or the next run aborts unfinished uploads on the server. Done files stay done. "transfers \
      retry" continues a cancelled file.
      """)

  @OptionGroup var control: ControlOptions

  var common: CommonOptions { control.common }

  func execute(_ context: Context) throws(CommandFailure) {
    let words = ControlWords(verb: "cancel", done: "cancelled", goal: .cancelled)
    try ControlRunner(verb: .cancel, words: words, options: control, context: context).run()
  }
}
