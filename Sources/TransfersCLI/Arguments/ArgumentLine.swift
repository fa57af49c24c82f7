import ArgumentParser
import TransferModel

/// The parser's input: the typed arguments with global options moved behind the command name, and options from the
/// environment inserted so that typed ones take precedence.
struct ArgumentLine: Sendable {
  let arguments: [String]
  /// The arguments without those that the environment adds.
  let typed: [String]
  let environment: EnvironmentOptions
  private let words: [String]
  private let tail: [String]

  /// Completion scripts and the parser's own queries pass unchanged.
  /// - Parameter job: the job that runs the command; its settings take precedence over the places that the command
  ///   names.
  init(_ context: Context, job: ConfigSection? = nil) throws(CommandFailure) {
    let raw = context.arguments
    let path = CommandPath(raw)
    words = path.words
    guard raw.first != "---completion", !raw.contains("--generate-completion-script") else {
      (arguments, typed, tail) = (raw, raw, [])
      environment = try EnvironmentOptions([:], for: { OptionList(of: CommonOptions.self) }, typed: [])
      return
    }
    if let failure = path.missing() { throw failure }
    let command = path.command
    tail = Self.spelledOut(path.options[...]) + Self.spelledOut(path.rest)
    typed = words + tail
    if let failure = Self.empty(tail, command) { throw failure }
    let isCommand = command.configuration.subcommands.isEmpty
    var environment = try EnvironmentOptions(
      isCommand ? context.environment : [:], for: { OptionList(of: command) }, typed: tail)
    if isCommand {
      let list = Self.listed(context.config, job) ? OptionList(of: command) : nil
      if let list, let job { environment.add(job.settings, list, typed: tail, isMeant: true) }
      if let list, let place = Self.place(Self.joined(words, environment.settings, tail), context.config) {
        environment.add(place.settings, list, typed: tail, isMeant: true)
      }
      if let list, !context.config.defaults.isEmpty {
        let defaults = context.config.defaults.values.sorted { $0.key < $1.key }
        environment.add(defaults, list, typed: tail, isMeant: false)
      }
    }
    environment.drop(Self.idle(Self.joined(words, environment.settings, tail), environment, context.config))
    self.environment = environment
    arguments = Self.joined(words, environment.settings, tail)
  }

  /// For `--name=` the parser would take the next argument, a source, as the value. For `--dest ""` it would take the
  /// empty text, usually of a variable that is not set, which selects everything.
  private static func empty(_ tail: [String], _ command: any ParsableCommand.Type) -> CommandFailure? {
    let options = tail.prefix { $0 != "--" }
    if let bad = options.first(where: { $0.hasPrefix("--") && $0.firstIndex(of: "=") == $0.indices.last }) {
      let name = String(bad.dropLast())
      let isRequired = OptionList(of: command).option(named: name)?.isRequired ?? false
      return valueless(EscapedArgument.shown(name), sign: "=", isRequired: isRequired)
    }
    let named = zip(options, options.dropFirst()).filter { $1.isEmpty && $0.hasPrefix("-") && !$0.contains("=") }
    guard !named.isEmpty else { return nil }
    let list = OptionList(of: command)
    let bad = named.lazy.compactMap { list.option(named: $0.0) }.first(where: \.takesValue)
    return bad.map { valueless("--" + $0.long, isRequired: $0.isRequired) }
  }

  private static func valueless(_ option: String, sign: String = "", isRequired: Bool = false) -> CommandFailure {
    .usage("\(option)\(sign) has no value", remedy: "give \(option) a value" + (isRequired ? "" : ", or leave it out"))
  }

  /// The options from the environment that do not apply together with the others.
  private static func idle(
    _ arguments: [String], _ environment: EnvironmentOptions, _ config: Config
  ) -> Set<String> {
    guard !environment.settings.isEmpty,
      let command = (try? RootCommand.parseAsRoot(arguments)) as? any HasInapplicableOptions
    else { return [] }
    return command.inapplicableOptions(config)
  }

  /// Whether a configuration can set options of this command.
  private static func listed(_ config: Config, _ job: ConfigSection?) -> Bool {
    job != nil || !config.defaults.isEmpty || !config.destinations.isEmpty || !config.sources.isEmpty
  }

  /// The place of the configuration that the command names.
  private static func place(_ arguments: [String], _ config: Config) -> ConfigSection? {
    guard !config.destinations.isEmpty || !config.sources.isEmpty,
      let command = (try? RootCommand.parseAsRoot(arguments)) as? any NamesPlace, let (word, kind) = command.placeWord
    else { return nil }
    return config.place(word, kind)?.section
  }

  /// The arguments with only these settings of the environment.
  func arguments(with settings: [EnvironmentOptions.Setting]) -> [String] { Self.joined(words, settings, tail) }

  private static func joined(
    _ words: [String], _ settings: [EnvironmentOptions.Setting], _ tail: [String]
  ) -> [String] {
    let options = tail.prefix { $0 != "--" }
    return words + settings.filter { !$0.isRule }.flatMap(\.arguments) + options
      + settings.filter(\.isRule).flatMap(\.arguments) + tail[options.endIndex...]
  }

  /// `--json=a,b` is `--json --columns=a,b`: a flag of the parser takes no value.
  private static func spelledOut(_ arguments: ArraySlice<String>) -> [String] {
    let options = arguments.prefix { $0 != "--" }
    let spelled = options.flatMap { argument in
      argument.hasPrefix("--json=") ? ["--json", "--columns=" + argument.dropFirst("--json=".count)] : [argument]
    }
    return spelled + arguments[options.endIndex...]
  }
}

extension ArgumentLine {
  /// The parser's error, with the environment variable that caused it if the typed arguments alone are valid.
  func failure(_ message: ParserMessage) -> CommandFailure {
    let help = (["transfers"] + words + ["--help"]).joined(separator: " ")
    guard !environment.settings.isEmpty, Self.isRight(typed) else {
      return .usage(message.text, remedy: message.remedy ?? help)
    }
    let culprit = environment.settings.first { !Self.isRight(arguments(with: [$0])) }
    let culprits = culprit.map { [$0] } ?? environment.settings
    let text = culprits.map(\.shown).joined(separator: ", ") + ": " + message.text
    guard culprits.contains(where: \.isConfigured) else { return .usage(text, remedy: "transfers help environment") }
    return CommandFailure(.config, text, remedy: "transfers help config")
  }

  private static func isRight(_ arguments: [String]) -> Bool { (try? RootCommand.parseAsRoot(arguments)) != nil }
}

extension EnvironmentOptions.Setting {
  /// `TRANSFERS_RATE is "fast"`.
  fileprivate var shown: String {
    let values = shownValues.joined(separator: "\n")
    let flag = isConfigured ? "true" : "1"
    return "\(variable) is \"\(EscapedArgument.shown(values.isEmpty ? flag : values))\""
  }
}
