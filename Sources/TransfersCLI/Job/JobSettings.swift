import TransferModel

/// The effective settings of a job: its own, and those of the environment, of the places that it names and of the
/// defaults, each with its origin, in the form of `config show --origin`.
enum JobSettings {
  typealias Value = ConfigShowCommand.Value

  static func effective(
    _ job: ConfigSection, store: Value, _ context: Context
  ) -> [Value] {
    // A job that cannot run still shows what is configured.
    let added = (try? JobLine(job, context).environments().flatMap(\.settings)) ?? []
    let variables = added.filter { !$0.isConfigured && !$0.isRule }
    let own = job.settings.filter { setting in
      // The environment takes precedence over it.
      !variables.contains { variable in setting.option.map { EnvironmentOptions.isVoid($0, [variable.long]) } ?? false }
    }
    let origins = Set(job.settings.map { "\($0.place): \($0.key)" })
    let rows = own.map { Value(key: $0.key, value: $0.shown, origin: $0.place.description) }
    let others = added.filter { !origins.contains($0.variable) }.map(value)
    return unique(rows + others + urls(job, context.config) + [store])
  }

  private static func value(_ setting: EnvironmentOptions.Setting) -> Value {
    let (isOn, values) = (setting.arguments.first?.hasPrefix("--no-") != true, setting.shownValues)
    let shown = setting.arguments.contains { $0.contains("=") } ? values.joined(separator: ", ") : "\(isOn)"
    guard setting.isConfigured, let end = setting.variable.ranges(of: ": ").last else {
      return Value(
        key: setting.long.replacing("-", with: "_"), value: EscapedArgument.shown(shown), origin: setting.variable)
    }
    return Value(
      key: String(setting.variable[end.upperBound...]), value: EscapedArgument.shown(shown),
      origin: String(setting.variable[..<end.lowerBound]))
  }

  /// The URLs of the places that it names, with their full keys: `to` has only the names.
  private static func urls(_ job: ConfigSection, _ config: Config) -> [Value] {
    let isUpload = job.direction == .upload
    let kind = isUpload ? ConfigSection.Kind.destination : .source
    let places = (job[isUpload ? "to" : "from"]?.values ?? []).compactMap { config.place($0, kind)?.section }
    return places.compactMap { place in
      place["url"].map { url in
        Value(key: "\(kind.plural).\(place.name).url", value: url.shown, origin: url.place.description)
      }
    }
  }

  /// Two destinations get the same default.
  private static func unique(_ values: [Value]) -> [Value] {
    var seen: Set<[String]> = []
    return values.filter { seen.insert([$0.key, $0.value, $0.origin]).inserted }
  }
}
