import ArgumentParser
import Transfers
import TransferModel

/// `transfers rm`: hides files.
struct RemoveCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Cancel unfinished files, and hide all of them.",
    discussion: """
      Reports still count the files, and --hidden shows them again. Nothing is deleted, locally or at the destination, \
      except copies of sources that transfers made (--stage, --growing). An object whose source was deleted \
      (--after delete) is given up: other files may replace it.
      """, aliases: ["delete"])

  @OptionGroup var control: ControlOptions

  var common: CommonOptions { control.common }

  func execute(_ context: Context) throws(CommandFailure) {
    let words = ControlWords(verb: "rm", phrase: "remove", done: "hidden; reports still count them")
    try ControlRunner(verb: .remove, words: words, options: control, context: context).run()
  }
}
