import ArgumentParser
import TransferModel
import TransferReports

enum ColourChoice: String, ExpressibleByArgument, CaseIterable, Sendable { case auto, always, never }

/// What every command takes.
struct CommonOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The ledger (default: $TRANSFERS_STORE, else $XDG_STATE_HOME/transfers/transfers.db, else under ~/.local/state).",
      valueName: "path"))
  var store: String?

  @Flag(help: "Print one JSON document instead of text.")
  var json = false

  @Flag(name: .shortAndLong, help: "No progress and no remarks; errors and results only.")
  var quiet = false

  @Option(name: .customLong("color"), help: ArgumentHelp("Colour in text.", valueName: "when"))
  var colour = ColourChoice.auto

  func storePath(_ context: Context) throws(CommandFailure) -> String {
    try StoreLocation.path(option: store, environment: context.environment)
  }

  func style(_ context: Context) -> TextStyle {
    TextStyle(
      columns: context.out.columns,
      usesColour: TextStyle.usesColour(
        colour, environment: context.environment, isTerminal: context.out.isTerminal))
  }

  /// Prints a result in the form that was asked for.
  func print(
    _ value: some OutputValue, store: StoreIdentity, filters: [String: Cell] = [:], _ context: Context
  ) throws(CommandFailure) {
    guard json else { return context.out.write(value.text(style(context))) }
    let document = Envelope(
      schema: Swift.type(of: value).schema, generatedAt: .time(context.clock.wallMs), store: store, filters: filters,
      data: value)
    context.out.write(try JSONText.encode(document) + [0x0A])
  }
}
