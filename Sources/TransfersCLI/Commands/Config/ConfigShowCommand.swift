import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers config show`.
struct ConfigShowCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the effective values and, with --origin, where each comes from.",
    discussion: """
      Values of destinations, sources and jobs come from files. A default applies if the environment (TRANSFERS_…) \
      does not set it; otherwise the value of the environment is shown, which takes precedence over the same key of a \
      job, a destination or a source, too. Secrets are not shown: auth only refers to them.
      """)

  @Flag(help: "Also show the file with line and column, or the variable, of each value.")
  var origin = false
  @OptionGroup var common: CommonOptions

  struct Value: Sendable {
    let key: String
    let value: String
    let origin: String
  }

  static let columns: [Column<Value>] = [
    .text("key", "Key") { $0.key }, .text("value", "Value") { $0.value }, .text("origin", "Origin") { $0.origin },
  ]

  func execute(_ context: Context) throws(CommandFailure) {
    let config = try ConfigFiles.load(common.config, context)
    let rows = try values(config, context)
    var printer = RowPrinter(
      schema: "transfers.config.show/1", rowType: "value", store: StoreIdentity(path: try? common.storePath(context)),
      common, context)
    let columns = origin || common.needsEveryFigure ? Self.columns : Array(Self.columns.dropLast())
    printer.print(FigureTable(columns, rows))
    try printer.finish(empty: "nothing is configured")
  }

  private func values(_ config: Config, _ context: Context) throws(CommandFailure) -> [Value] {
    var values = try defaults(config, context)
    for kind in ConfigSection.Kind.allCases {
      for section in config.sections(kind).values.sorted(by: { $0.name < $1.name }) {
        for setting in section.settings {
          values.append(
            Value(
              key: "\(kind.plural).\(section.name).\(setting.key)", value: setting.shown,
              origin: setting.place.description))
        }
      }
    }
    return values
  }

  /// The ledger, and what names it.
  static func store(
    _ common: CommonOptions, _ config: Config, _ context: Context
  ) throws(CommandFailure) -> Value {
    let (store, origin) = try StoreLocation.find(
      option: common.store, environment: context.environment, configured: config.defaults["store"])
    return Value(key: "defaults.store", value: store, origin: origin)
  }

  /// Variables take precedence over files.
  private func defaults(_ config: Config, _ context: Context) throws(CommandFailure) -> [Value] {
    var found = ["store": try Self.store(common, config, context)]
    for (long, setting) in config.defaults where long != "store" {
      found[setting.key] = Value(
        key: "defaults.\(setting.key)", value: setting.shown, origin: setting.place.description)
    }
    for (key, known) in ConfigSchema.current.defaults {
      guard let option = known.option else { continue }
      let variable = EnvironmentOptions.variable(option)
      guard let value = context.variable(variable) else { continue }
      let shown = ShownValues.of(option, [value])[0]
      found[key] = Value(key: "defaults.\(key)", value: EscapedArgument.shown(shown), origin: variable)
    }
    return found.values.sorted { $0.key < $1.key }
  }
}

extension ConfigSetting {
  /// The value for a person.
  var shown: String { ShownValues.of(key, values).joined(separator: ", ") }
}
