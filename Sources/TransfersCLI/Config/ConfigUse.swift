import TransferModel

/// A command that can name a place of the configuration.
protocol NamesPlace {
  /// The argument that may be `NAME` or `NAME:path`, and the kind of place that it names.
  var placeWord: (word: String, kind: ConfigSection.Kind)? { get }
}

extension Config {
  /// The place named by an argument, and the path below it: `archive`, `archive:runs/42`. nil for a URL, and for an
  /// argument that names none. A source needs the colon, because an argument without one may be a path.
  func place(_ word: String, _ kind: ConfigSection.Kind) -> (section: ConfigSection, path: String)? {
    guard !word.contains("://") else { return nil }
    let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 || kind == .destination, let section = sections(kind)[parts[0]] else { return nil }
    return (section, parts.count == 2 ? parts[1] : "")
  }

  /// The URL of an argument: that of the named place, or the argument itself.
  /// - Throws: `.usage` for a misspelt name, or a field without a value.
  func url(_ word: String, _ kind: ConfigSection.Kind, _ fields: ConfigFields) throws(CommandFailure) -> String {
    guard let (section, path) = place(word, kind) else {
      if !word.contains("://"), let name = word.split(separator: ":").first {
        try refuseSlip(String(name), hasColon: word.contains(":"), kind)
      }
      return word
    }
    return try ConfigURL.joined(try fields.fill(section["url"]?.value ?? ""), try fields.fill(path))
  }

  /// The URL of an argument with its fields unfilled, for decisions that depend only on the protocol.
  func plainURL(_ word: String, _ kind: ConfigSection.Kind) -> String {
    place(word, kind)?.section["url"]?.value ?? word
  }

  private func refuseSlip(_ name: String, hasColon: Bool, _ kind: ConfigSection.Kind) throws(CommandFailure) {
    let names = sections(kind).keys.sorted()
    let isMeant = hasColon && Self.isPlaceName(name)
    guard isMeant || !names.isEmpty && (hasColon || kind == .destination) else { return }
    let near = EditDistance.nearest(to: name, in: names)
    guard near != nil || kind == .destination || isMeant else { return }
    throw .usage(
      "no \(kind.rawValue) \"\(EscapedArgument.shown(name))\" in the configuration",
      remedy: near ?? Self.remedy(name, kind, hasNames: !names.isEmpty))
  }

  /// `remote:path`, with no slash before the colon, as other programs name configured places.
  private static func isPlaceName(_ name: String) -> Bool {
    !name.isEmpty && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
  }

  private static func remedy(_ name: String, _ kind: ConfigSection.Kind, hasNames: Bool) -> String {
    if ["s3", "http", "https"].contains(name.lowercased()) { return "\(name.lowercased())://…" }
    if hasNames, kind == .destination { return "transfers dest list, or a URL" }
    return "a URL, or add it under \"\(kind.rawValue)s\" (transfers help config)"
  }
}

extension EnvironmentOptions {
  /// Adds settings of a configuration for options that are not set yet, by option name.
  mutating func add(_ settings: [ConfigSetting], _ list: OptionList, typed: [String], isMeant: Bool) {
    let before = Self.longs(of: typed, list).union(self.settings.map(\.long))
    // The first matching rule decides, so exclude rules come first.
    let ordered = settings.filter { $0.key == "exclude" } + settings.filter { $0.key != "exclude" }
    for setting in ordered {
      guard let long = setting.option, let option = list.option(long: long), !Self.isVoid(long, before) else {
        continue
      }
      self.settings.append(
        Setting(
          variable: "\(setting.place): \(setting.key)", long: long, arguments: Self.arguments(setting, option, list),
          isRule: option.isRepeatable, isMeant: isMeant, isConfigured: true))
    }
  }

  /// The setting as typed arguments.
  static func arguments(
    _ setting: ConfigSetting, _ option: OptionList.Option, _ list: OptionList
  ) -> [String] {
    guard !option.takesValue else {
      return setting.values.map { "--\(option.long)=\(EscapedArgument.encode(Array($0.utf8)))" }
    }
    if setting.isTrue { return ["--\(option.long)"] }
    return list.option(long: "no-\(option.long)") == nil ? [] : ["--no-\(option.long)"]
  }
}
