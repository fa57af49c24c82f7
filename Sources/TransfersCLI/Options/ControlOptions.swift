import ArgumentParser

/// Options of every verb that changes files.
struct ControlOptions: ParsableArguments {
  @OptionGroup(title: "Selection") var selection: SelectionOptions

  @Flag(name: [.customShort("n"), .long], help: "Only print the IDs that would change; changes nothing.")
  var dryRun = false

  @Flag(help: "Exit with 9 when nothing matches.")
  var failIfEmpty = false

  @OptionGroup var common: CommonOptions
}
