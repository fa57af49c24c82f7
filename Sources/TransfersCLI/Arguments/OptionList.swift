import ArgumentParser
import FoundationEssentials

/// The options that a command declares, from the parser's own description, so that they always match.
struct OptionList: Sendable {
  struct Option: Sendable, Hashable {
    /// Without dashes: `dry-run`.
    let long: String
    let shorts: [Character]
    let takesValue: Bool
    let isRepeatable: Bool
    let isRequired: Bool
    let valueName: String
    let help: String
    /// The allowed values; empty if any value is allowed.
    let values: [String]
    /// It cannot be set by a variable.
    var mustBeTyped: Bool
  }

  let options: [Option]

  init(of type: any ParsableArguments.Type) {
    let dump = try? JSONDecoder().decode(Dump.self, from: Data(type._dumpHelp().utf8))
    options = Self.marked((dump?.command.arguments ?? []).compactMap(Option.init), type)
  }

  /// Selection and changes of a verb must be typed; output options may come from anywhere.
  private static func marked(_ options: [Option], _ type: any ParsableArguments.Type) -> [Option] {
    guard type is any ChangesRows.Type else { return options }
    let common = Set(OptionList(of: CommonOptions.self).options.map(\.long)).union(["dry-run", "fail-if-empty"])
    return options.map { option in
      var option = option
      option.mustBeTyped = option.mustBeTyped || !common.contains(option.long)
      return option
    }
  }

  func option(long: some StringProtocol) -> Option? { options.first { $0.long == long } }

  /// The option that an argument names: `--rate`, `--rate=5M` or `-q`; nil when it is another, several, or no option.
  func option(named argument: String) -> Option? {
    if argument.hasPrefix("--") { return option(long: argument.dropFirst(2).prefix { $0 != "=" }) }
    guard argument.count == 2, argument.hasPrefix("-"), let letter = argument.last else { return nil }
    return options.first { $0.shorts.contains(letter) }
  }
}

/// The part of the parser's description (`--experimental-dump-help`, serialization version 0) that is read here.
private struct Dump: Decodable {
  struct Command: Decodable { let arguments: [Argument]? }
  struct Name: Decodable { let kind, name: String }

  struct Argument: Decodable {
    let kind: String
    let names: [Name]?
    let isRepeating: Bool
    let isOptional: Bool?
    let valueName, abstract: String?
    let allValues: [String]?
  }

  let command: Command
}

extension OptionList.Option {
  /// nil for positional arguments.
  fileprivate init?(_ argument: Dump.Argument) {
    guard let long = argument.names?.first(where: { $0.kind == "long" })?.name else { return nil }
    self.long = long
    shorts = (argument.names ?? []).filter { $0.kind == "short" }.compactMap(\.name.first)
    takesValue = argument.kind == "option"
    isRepeatable = argument.isRepeating
    isRequired = argument.isOptional == false
    valueName = argument.valueName ?? ""
    help = argument.abstract ?? ""
    values = argument.allValues ?? []
    mustBeTyped = EnvironmentOptions.typedOnly.contains(long)
  }
}
