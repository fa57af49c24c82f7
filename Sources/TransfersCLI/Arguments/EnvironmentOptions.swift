import ArgumentParser
import TransferModel

/// `TRANSFERS_<FLAG>` for every option of every command: `TRANSFERS_RATE=20M` is `--rate 20M`, unless that is typed. An
/// empty variable is ignored. A flag takes 1, true, yes or 0, false, no. An option that may be repeated takes one value
/// per line. These values are not recorded in the ledger as part of the command line.
struct EnvironmentOptions: Sendable {
  struct Setting: Sendable, Hashable {
    /// The variable, or the position in a configuration: `/etc/transfers/config.yaml:3:9: rate`.
    let variable: String
    /// The option, without dashes.
    let long: String
    let arguments: [String]
    /// Inserted after the typed arguments, so that typed rules decide first; all others are inserted before them, so
    /// that typed ones take precedence.
    let isRule: Bool
    /// Set in a configuration section that this command uses: it must be applicable.
    var isMeant = false
    /// Set in a configuration.
    var isConfigured = false

    /// The values for display; empty for a flag that is set.
    var shownValues: [String] {
      ShownValues.of(long, arguments.map { String($0.drop { $0 != "=" }.dropFirst()) }.filter { !$0.isEmpty })
    }

    var shownArguments: [String] {
      arguments.map { argument in
        guard let mark = argument.firstIndex(of: "=") else { return argument }
        let value = String(argument[argument.index(after: mark)...])
        return "\(argument[...mark])\(ShownValues.of(long, [value])[0])"
      }
    }
  }

  static let prefix = "TRANSFERS_"

  /// Must be typed explicitly: a selection of everything must not come from the environment.
  static let typedOnly: Set<String> = ["all", "force", "columns", "help", "version"]

  /// Read where it is used, so that the most frequent variable costs nothing.
  static let readElsewhere: Set<String> = ["store", "config"]

  /// Mutually exclusive options: if one is typed, the variables of the others are ignored.
  static let groups: [Set<String>] = [["json", "format"], ["quiet", "verbose"], ["files-from", "files-from0"]]

  var settings: [Setting] = []
  /// Variables that begin with `TRANSFERS_` and set nothing for this command.
  private(set) var others: [String] = []

  /// Reads the settings for the options of the command, which are in `list`; `typed` are the command's arguments.
  init(_ environment: [String: String], for list: () -> OptionList, typed: [String]) throws(CommandFailure) {
    let variables = environment.filter { $0.key.hasPrefix(Self.prefix) && !$0.value.isEmpty }.sorted { $0.key < $1.key }
    let wanted = variables.filter { !Self.readElsewhere.contains(Self.long($0.key)) }
    guard !wanted.isEmpty else { return }
    let list = list()
    let given = Self.longs(of: typed, list)
    for (variable, value) in wanted {
      let long = Self.long(variable)
      guard let option = list.option(long: long), !option.mustBeTyped else {
        others.append(variable)
        continue
      }
      guard !Self.isVoid(long, given) else { continue }
      let arguments = try Self.arguments(option, variable, value, list)
      settings.append(Setting(variable: variable, long: long, arguments: arguments, isRule: option.isRepeatable))
    }
  }

  /// `dry-run` of `TRANSFERS_DRY_RUN`.
  static func long(_ variable: String) -> String {
    variable.dropFirst(prefix.count).lowercased().replacing("_", with: "-")
  }

  /// `TRANSFERS_DRY_RUN` of `dry-run`.
  static func variable(_ long: String) -> String { prefix + long.uppercased().replacing("-", with: "_") }

  /// Removes the settings of these options, by their long names, because they do not apply.
  mutating func drop(_ idle: Set<String>) { settings.removeAll { !$0.isMeant && idle.contains($0.long) } }

  static func isVoid(_ long: String, _ given: Set<String>) -> Bool {
    if given.contains(long) { return true }
    return groups.contains { $0.contains(long) && !$0.isDisjoint(with: given) }
  }

  /// The options among arguments, by their long names; `-qn` is two.
  static func longs(of typed: [String], _ list: OptionList) -> Set<String> {
    var found: Set<String> = []
    for argument in typed.prefix(while: { $0 != "--" }) where argument.hasPrefix("-") {
      if argument.hasPrefix("--") {
        found.insert(String(argument.dropFirst(2).prefix { $0 != "=" }))
      } else {
        for letter in argument.dropFirst() { list.option(named: "-\(letter)").map { _ = found.insert($0.long) } }
      }
    }
    return found
  }

  private static func arguments(
    _ option: OptionList.Option, _ variable: String, _ value: String, _ list: OptionList
  ) throws(CommandFailure) -> [String] {
    guard option.takesValue else { return try flag(option, variable, value, list) }
    let values = option.isRepeatable ? value.split(separator: "\n").map(String.init) : [value]
    return values.map { "--\(option.long)=\($0)" }
  }

  private static func flag(
    _ option: OptionList.Option, _ variable: String, _ value: String, _ list: OptionList
  ) throws(CommandFailure) -> [String] {
    switch value.lowercased() {
    case "1", "true", "yes": return ["--\(option.long)"]
    case "0", "false", "no":
      let inverse = "no-\(option.long)"
      return list.option(long: inverse) == nil ? [] : ["--\(inverse)"]
    case let columns where option.long == "json" && columns.contains(","):
      throw .usage(
        "\(variable) is \"\(EscapedArgument.shown(value))\", but the columns depend on the command",
        remedy: "\(variable)=1, and --json=a,b or --columns a,b for single commands")
    default:
      throw .usage("\(variable) is \"\(EscapedArgument.shown(value))\"", remedy: "1 or 0, true or false, yes or no")
    }
  }
}

/// A command with options that apply only in combination with others. From the environment, which is set for many uses,
/// inapplicable options are ignored; typed ones are a usage error, found when the command runs.
protocol HasInapplicableOptions {
  /// The inapplicable ones of the given options, by their long names.
  var inapplicableOptions: Set<String> { get }
  /// The same with named places resolved.
  func inapplicableOptions(_ config: Config) -> Set<String>
}

extension HasInapplicableOptions {
  func inapplicableOptions(_ config: Config) -> Set<String> { inapplicableOptions }
}

extension EnvironmentOptions {
  /// The first of `others` that resembles an option of some command, with the suggestion. Names that resemble none of
  /// ours belong to other software.
  func misspelt() -> (variable: String, meant: String)? {
    var left = others.filter { !Self.typedOnly.contains(Self.long($0)) }
    var known: Set<String> = Self.readElsewhere
    for command in RootCommand.leaves {
      if left.isEmpty { return nil }
      known.formUnion(OptionList(of: command).options.map(\.long))
      left.removeAll { known.contains(Self.long($0)) }
    }
    for variable in left {
      let near = EditDistance.nearest(to: Self.long(variable), in: known.sorted())
      if let near { return (variable, Self.variable(near)) }
    }
    return nil
  }
}

extension RootCommand {
  /// All commands that do something themselves, with their names: `push`, `store check`.
  static var leafNames: [(name: String, command: any ParsableCommand.Type)] { leaves(of: RootCommand.self, []) }

  static var leaves: [any ParsableCommand.Type] { leafNames.map(\.command) }

  private static func leaves(
    of command: any ParsableCommand.Type, _ path: [String]
  ) -> [(name: String, command: any ParsableCommand.Type)] {
    let below = command.configuration.subcommands
    if below.isEmpty { return [(path.joined(separator: " "), command)] }
    return below.flatMap { leaves(of: $0, path + [$0.configuration.commandName ?? ""]) }
  }
}
