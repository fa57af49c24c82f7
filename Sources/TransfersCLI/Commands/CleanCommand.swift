import ArgumentParser
import Transfers
import TransferModel

/// `transfers clean`: hides what is finished.
struct CleanCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "clean", abstract: "Hide finished files from status and lists.",
    discussion: """
      Without a selection: everything that is done, cancelled or superseded. Nothing is deleted: reports still have it, \
      and --hidden shows it again.
      """, aliases: ["clear"])

  @OptionGroup var control: ControlOptions
  @Flag(help: "Failed files too.") var failed = false

  var common: CommonOptions { control.common }

  func execute(_ context: Context) throws(CommandFailure) {
    let words = ControlWords(verb: "clean", done: "hidden; reports still have them")
    try ControlRunner(
      verb: .clean(failed: failed), words: words, options: control, context: context, takesEverything: true
    ).run()
  }
}
