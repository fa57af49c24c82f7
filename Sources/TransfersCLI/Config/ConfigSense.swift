import ArgumentParser
import TransferModel
import Transfers

/// Checks of a configuration that need the command-line parser and the protocols: whether values are valid, and whether
/// a destination supports its options.
enum ConfigSense {
  static func faults(_ config: Config, _ context: Context) -> [ConfigFault] {
    let lists = [Direction.upload: OptionList(of: PushCommand.self), .download: OptionList(of: PullCommand.self)]
    var faults = config.defaults.values.compactMap { fault($0, nil, lists) }
    for kind in ConfigSection.Kind.allCases {
      for section in config.sections(kind).values {
        let values = section.settings.compactMap { fault($0, section.direction(kind), lists) }
        // A job may fail by a fault of its destination, which has been found there.
        let places = Set(faults.map(\.place))
        faults += values.isEmpty ? whole(section, config, context).filter { !places.contains($0.place) } : values
      }
    }
    return faults
  }

  /// The error for a value that its option does not accept. For a default it suffices that one direction knows the
  /// option.
  private static func fault(
    _ setting: ConfigSetting, _ direction: Direction?, _ lists: [Direction: OptionList]
  ) -> ConfigFault? {
    guard let long = setting.option else { return nil }
    let directions: [Direction] = direction.map { [$0] } ?? [.upload, .download]
    var message: String?
    for direction in directions {
      guard let list = lists[direction], let option = list.option(long: long) else { continue }
      let arguments = EnvironmentOptions.arguments(setting, option, list)
      let line = [direction == .upload ? "push" : "pull"] + arguments + ["--"] + places(long, direction)
      do { _ = try RootCommand.parseAsRoot(line) } catch {
        let found = ParserMessage(RootCommand.message(for: error))
        let text = found.text.replacing("--\(long) \"", with: "\(setting.key) \"")
        if !needingOthers.contains(long) { message = text }
      }
    }
    return message.map { ConfigFault(place: setting.place, message: $0) }
  }

  /// Options that need another option, which is missing in the line that checks their value.
  private static let needingOthers: Set<String> = ["missing", "input", "list-format", "zsync"]

  /// The words that complete a line with this option: the list of an upload stands for its sources.
  private static func places(_ option: String, _ direction: Direction) -> [String] {
    guard direction == .upload else { return ["http://host/file", "folder"] }
    return ["files-from", "files-from0"].contains(option) ? ["http://host/"] : ["source", "http://host/"]
  }

  /// A section with the defaults added, as commands use it.
  private static func whole(_ section: ConfigSection, _ config: Config, _ context: Context) -> [ConfigFault] {
    guard section.kind == .job else {
      return section.kind == .destination ? foreign(section) : []
    }
    var faults: [ConfigFault] = []
    let kind: ConfigSection.Kind = section.direction == .upload ? .destination : .source
    for key in section.direction == .upload ? ["to"] : ["from"] {
      guard let setting = section[key] else { continue }
      for word in setting.values where !word.contains("://") && config.place(word, kind) == nil {
        let name = String(word.prefix { $0 != ":" })
        let near = EditDistance.nearest(to: name, in: config.sections(kind).keys.sorted())
        faults.append(
          ConfigFault(
            place: setting.place,
            message: "no \(kind.rawValue) \"\(name)\""
              + (near.map { "; did you mean \"\($0)\"?" } ?? ", and it is not a URL")))
      }
      if let problem = setting.values.lazy.compactMap(ConfigFields.problem).first {
        faults.append(ConfigFault(place: setting.place, message: problem))
      }
    }
    faults += unsupportedRules(section, config) + JobDestinations.faults(section, config)
    if let name = section["name"], let problem = ConfigFields.problem(name.value) {
      faults.append(ConfigFault(place: name.place, message: problem))
    }
    if let problem = JobCallbacks.problem(section) {
      faults.append(ConfigFault(place: problem.setting.place, message: problem.text))
    }
    guard faults.isEmpty, config.unusable[section.name] == nil,
      let fault = JobSense.fault(section, context.configured(config))
    else { return faults }
    return [fault]
  }
}

extension ConfigSense {
  /// Rules of a job that its destination does not support.
  private static func unsupportedRules(_ job: ConfigSection, _ config: Config) -> [ConfigFault] {
    guard let rules = job["rules"] else { return [] }
    let faults = (job["to"]?.values ?? []).flatMap { to in
      let place = config.place(to, .destination)?.section
      var settings = BatchSettings(destination: ConfigFields.sample(config.plainURL(to, .destination)))
      settings.rules = rules.values.compactMap { try? ProtocolCatalog.objectRule($0) }
      if let via = job["via"] ?? place?["via"] { settings.profile = ProfileSettings(name: via.value, text: "") }
      return unsupportedRules(rules, settings)
    }
    return Set(faults).sorted { $0.message < $1.message }
  }

  private static func unsupportedRules(_ rules: ConfigSetting?, _ settings: BatchSettings) -> [ConfigFault] {
    guard let rules, let foreign = try? ProtocolCatalog.unsupportedRules(settings) else { return [] }
    return Set(foreign.map(\.setting)).sorted().map { setting in
      ConfigFault(place: rules.place, message: "\"\(setting)\" does not apply to the protocol of this destination")
    }
  }

  /// Options that the protocol of a destination does not support, and an invalid URL.
  private static func foreign(_ section: ConfigSection) -> [ConfigFault] {
    // An invalid URL is reported already.
    guard let url = section["url"], ConfigURL.problem(url.value) == nil else { return [] }
    let list = OptionList(of: PushCommand.self)
    let arguments = section.settings.flatMap { setting in
      setting.option.flatMap { list.option(long: $0) }.map { EnvironmentOptions.arguments(setting, $0, list) } ?? []
    }
    let line = ["push"] + arguments + ["--", "source", ConfigFields.sample(url.value)]
    guard let push = (try? RootCommand.parseAsRoot(line)) as? PushCommand else { return [] }
    do throws(CommandFailure) {
      let settings = try push.batch.settings(at: ConfigFields.sample(url.value))
      let unknown = try failing { () throws(TransferError) in try ProtocolCatalog.unsupportedOptions(settings) }
      return unsupportedRules(section["rules"], settings)
        + unknown.map { long in
          let setting = section.settings.first { $0.option == long }
          return ConfigFault(
            place: setting?.place ?? section.place,
            message: "\"\(setting?.key ?? long)\" does not apply to the protocol of this destination")
        }
    } catch {
      return [ConfigFault(place: url.place, message: error.text)]
    }
  }
}

extension ConfigSection {
  fileprivate func direction(_ kind: Kind) -> Direction {
    switch kind {
    case .destination: .upload
    case .source: .download
    case .job: direction
    }
  }
}
