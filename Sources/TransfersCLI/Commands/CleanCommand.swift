import ArgumentParser
import Transfers
import TransferModel

/// `transfers clean`: hides what is finished.
struct CleanCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "clean", abstract: "Hide finished files from status and lists.",
    discussion: """
      Without a selection: all done, cancelled and superseded files. Reports still count them, and --hidden shows them \
      again. Nothing is deleted except copies of sources that transfers made (--stage, --growing).
      """, aliases: ["clear"])

  @OptionGroup var control: ControlOptions
  @Flag(help: "Hide failed files too.") var failed = false

  var common: CommonOptions { control.common }

  func execute(_ context: Context) throws(CommandFailure) {
    let words = ControlWords(verb: "clean", done: "hidden; reports still count them")
    try ControlRunner(
      verb: .clean(failed: failed), words: words, options: control, context: context, takesEverything: true
    ).run()
  }
}
