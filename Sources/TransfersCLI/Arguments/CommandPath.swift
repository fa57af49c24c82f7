import ArgumentParser

/// The command of the arguments. Global options may be before, between and after its words: `transfers --json store
/// --store x.db check`.
struct CommandPath {
  /// The words of the command as they were typed.
  private(set) var words: [String] = []
  /// Global options before the last word.
  private(set) var options: [String] = []
  /// Everything after.
  private(set) var rest: ArraySlice<String>
  private(set) var command: any ParsableCommand.Type = RootCommand.self
  private var list: OptionList?

  init(_ arguments: [String]) {
    rest = arguments[...]
    while !command.configuration.subcommands.isEmpty, let next = rest.first {
      if let found = command.subcommand(named: next) {
        command = found
        words.append(next)
        rest.removeFirst()
      } else if !takeOption(next) {
        break
      }
    }
  }

  /// Takes an option that every command has, with its value.
  private mutating func takeOption(_ argument: String) -> Bool {
    guard argument.hasPrefix("-") else { return false }
    let list = list ?? OptionList(of: CommonOptions.self)
    self.list = list
    guard let option = list.option(named: argument), option.long != "help", option.long != "version" else {
      return false
    }
    options.append(argument)
    rest.removeFirst()
    if option.takesValue, !argument.contains("="), let value = rest.popFirst() { options.append(value) }
    return true
  }

  /// The error for a missing command; nil if the arguments request help, or are empty.
  func missing() -> CommandFailure? {
    guard !command.configuration.subcommands.isEmpty else { return nil }
    let path = (["transfers"] + words).joined(separator: " ")
    if let word = rest.first, !word.hasPrefix("-") {
      let near = EditDistance.nearest(to: word, in: command.subcommandNames)
      return .usage(
        "no command \"\(EscapedArgument.shown(word))\"", remedy: near.map { "\(path) \($0)" } ?? "\(path) --help")
    }
    guard rest.isEmpty, !options.isEmpty else { return nil }
    return .usage("\(EscapedArgument.shown(options[0])) needs a command", remedy: "\(path) --help")
  }
}

extension ParsableCommand {
  static func subcommand(named name: String) -> (any ParsableCommand.Type)? {
    configuration.subcommands.first {
      $0.configuration.commandName == name || $0.configuration.aliases.contains(name)
    }
  }

  static var subcommandNames: [String] { configuration.subcommands.compactMap { $0.configuration.commandName } }
}
