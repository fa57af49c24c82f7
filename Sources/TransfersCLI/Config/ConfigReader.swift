import StrictYAML
import TransferModel
import Transfers

/// Parses one configuration file. Pure: bytes in, the configuration and all errors out.
struct ConfigReader {
  private let file: String
  private let schema: ConfigSchema
  /// The expansion of `~/`; nil if unknown.
  private let home: String?
  private var config = Config()
  private var faults: [ConfigFault] = []

  /// Errors are in text order; the configuration contains the valid parts.
  static func read(
    _ bytes: [UInt8], file: String, home: String?, schema: ConfigSchema = .current
  ) -> (config: Config, faults: [ConfigFault]) {
    var reader = ConfigReader(file: file, schema: schema, home: home)
    do throws(YAMLFault) {
      if !isBlank(bytes) { reader.document(try YAMLReader.read(bytes, as: "a configuration")) }
    } catch {
      reader.faults.append(ConfigFault(place: ConfigPlace(file: file, mark: error.mark), message: error.message))
    }
    reader.config.files = [file]
    return (reader.config, reader.faults.sorted { ($0.place, $0.message) < ($1.place, $1.message) })
  }

  private init(file: String, schema: ConfigSchema, home: String?) {
    (self.file, self.schema, self.home) = (file, schema, home)
  }

  /// A file with only comments and blank lines is valid and empty.
  private static func isBlank(_ bytes: [UInt8]) -> Bool {
    bytes.split(separator: 0x0A).allSatisfy { line in
      let text = line.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
      return text.isEmpty || text.first == 0x23
    }
  }

  private func place(_ mark: SourceMark) -> ConfigPlace { ConfigPlace(file: file, mark: mark) }

  private mutating func fault(_ mark: SourceMark, _ message: String) {
    faults.append(ConfigFault(place: place(mark), message: message))
  }

  private mutating func entries(_ node: YAMLNode, _ what: String) -> [YAMLNode.Entry] {
    if let entries = node.entries { return entries }
    fault(node.mark, "\(what) must be a map (key: value), not \(node.kind)")
    return []
  }

  private mutating func document(_ root: YAMLNode) {
    for entry in entries(root, "a configuration") {
      if entry.key == "defaults" {
        for setting in settings(entry.value, schema.defaults, "defaults") {
          config.defaults[setting.option ?? setting.key] = setting
        }
      } else if let kind = ConfigSection.Kind.allCases.first(where: { $0.plural == entry.key }) {
        for section in entries(entry.value, entry.key) { self.section(kind, section) }
      } else {
        unknown(entry, ConfigSchema.top)
      }
    }
  }

  private mutating func unknown(_ entry: YAMLNode.Entry, _ known: [String]) {
    let word = entry.key.replacing("-", with: "_")
    let near = known.contains(word) ? word : EditDistance.nearest(to: word, in: known.sorted())
    fault(
      entry.keyMark,
      "unknown key \"\(entry.key)\""
        + (near.map { "; did you mean \"\($0)\"?" } ?? "; \"transfers config example\" shows all keys"))
  }

  private mutating func section(_ kind: ConfigSection.Kind, _ entry: YAMLNode.Entry) {
    if let problem = Self.problem(name: entry.key, kind) { fault(entry.keyMark, problem) }
    let direction =
      entry.value.entries?.first { $0.key == "direction" }?.value.text == "download" ? Direction.download : .upload
    let settings = settings(entry.value, schema.keys(kind, direction), "\(kind.rawValue) \"\(entry.key)\"")
    let section = ConfigSection(kind: kind, name: entry.key, place: place(entry.keyMark), settings: settings)
    require(section, entry)
    config.add(section)
  }

  private mutating func require(_ section: ConfigSection, _ entry: YAMLNode.Entry) {
    let written = Set((entry.value.entries ?? []).map(\.key))
    var needed = section.kind == .job ? ["from", "to"] : ["url"]
    if !written.isDisjoint(with: ["files_from", "files_from0"]) { needed.removeAll { $0 == "from" } }
    for key in needed where !written.contains(key) {
      fault(entry.keyMark, "\(section.kind.rawValue) \"\(section.name)\" needs \"\(key)\"")
    }
    if section.kind != .job, let url = section["url"], let problem = ConfigURL.problem(url.value) {
      faults.append(ConfigFault(place: url.place, message: problem))
    }
    if section.kind == .job {
      do throws(ScheduleFault) {
        _ = try JobSchedule(section)
        _ = try JobQuotaText.quota(section)
      } catch { faults.append(error.fault) }
      if let watch = section["watch"], watch.isTrue, section["from"] == nil {
        let message = "\"watch\" takes the folders of \"from\", and not a list of files; give \"every\" instead"
        faults.append(ConfigFault(place: watch.place, message: message))
      }
    }
    if section.direction == .download, let to = section["to"] {
      if let problem = path(to.value).problem { faults.append(ConfigFault(place: to.place, message: problem)) }
    }
  }

  /// Letters and digits, but not a URL scheme: a word before a colon must not be ambiguous.
  private static func problem(name: String, _ kind: ConfigSection.Kind) -> String? {
    let isPlain = name.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
      default: false
      }
    }
    guard isPlain, name.utf8.first.map({ $0 != 0x2D && $0 != 0x2E }) ?? false, (2...64).contains(name.utf8.count) else {
      return "\"\(name)\" is not a name: 2 to 64 letters, digits, \"-\", \".\" and \"_\""
    }
    guard kind != .job, ConfigURL.schemes.contains(name.lowercased()) else { return nil }
    return "\"\(name)\" is the scheme of a URL, so \"\(name):\" would be ambiguous; choose another name"
  }
}

// MARK: - Values

extension ConfigReader {
  private mutating func settings(
    _ node: YAMLNode, _ keys: [String: ConfigKey], _ what: String
  ) -> [ConfigSetting] {
    var settings: [ConfigSetting] = []
    for entry in entries(node, what) {
      guard let key = keys[entry.key] else {
        unknown(entry, Array(keys.keys))
        continue
      }
      guard let values = values(entry, key) else { continue }
      settings.append(
        ConfigSetting(key: entry.key, option: key.option, values: values, place: place(entry.value.mark)))
    }
    return settings
  }

  /// nil after a fault.
  private mutating func values(_ entry: YAMLNode.Entry, _ key: ConfigKey) -> [String]? {
    let node = entry.value
    switch key.kind {
    case .flag:
      if case .bool(let flag)? = node.scalar { return [flag ? "true" : "false"] }
      return wrong(entry, "true or false")
    case .text: return text(node).map { [$0] } ?? wrong(entry, "text")
    case .choice(let words):
      guard let text = text(node), words.contains(text) else { return wrong(entry, words.joined(separator: ", ")) }
      return [text]
    case .path:
      guard let text = text(node) else { return wrong(entry, "a path") }
      return absolute([(text, node.mark)])
    case .fate:
      guard let text = text(node) else { return wrong(entry, "keep, delete or move:FOLDER") }
      guard text.hasPrefix("move:") else { return [text] }
      return absolute([(String(text.dropFirst(5)), node.mark)])?.map { "move:" + $0 }
    case .list: return list(node)?.map(\.text) ?? wrong(entry, "text, or a list of texts")
    case .paths:
      guard let list = list(node) else { return wrong(entry, "a path, or a list of paths") }
      return absolute(list)
    case .rules: return rules(entry)
    case .map:
      guard let entries = node.entries else { return wrong(entry, "a map of texts") }
      var pairs: [String] = []
      for pair in entries {
        guard let value = text(pair.value), !pair.key.contains("=") else { return wrong(pair, "text") }
        pairs.append("\(pair.key)=\(value)")
      }
      return pairs
    }
  }

  /// `{match: "**/*.bam", storage_class: GLACIER, headers: {…}, tags: {…}}`, each setting as one rule.
  private mutating func rules(_ entry: YAMLNode.Entry) -> [String]? {
    guard let list = entry.value.list, !list.isEmpty else { return wrong(entry, "a list of rules") }
    let before = faults.count
    var texts: [String] = []
    for item in list {
      let parts = entries(item, "a rule")
      guard let match = parts.first(where: { $0.key == "match" }).flatMap({ text($0.value) }), parts.count > 1 else {
        fault(item.mark, "a rule needs \"match\", a pattern, and at least one setting")
        continue
      }
      for part in parts where part.key != "match" { texts += rule(match, part) }
    }
    return faults.count == before ? texts : nil
  }

  private mutating func rule(_ match: String, _ part: YAMLNode.Entry) -> [String] {
    switch part.key {
    case "content_type", "storage_class": return rule(match, part.key, part)
    case "headers", "tags":
      guard let entries = part.value.entries else {
        _ = wrong(part, "a map of texts")
        return []
      }
      return entries.flatMap { rule(match, "\(part.key.dropLast()).\($0.key)", $0) }
    default:
      unknown(part, ["match", "content_type", "storage_class", "headers", "tags"])
      return []
    }
  }

  private mutating func rule(_ match: String, _ setting: String, _ entry: YAMLNode.Entry) -> [String] {
    guard let value = text(entry.value) else {
      _ = wrong(entry, "text")
      return []
    }
    let rule = "\(match):\(setting)=\(value)"
    do throws(TransferError) { _ = try ProtocolCatalog.objectRule(rule) } catch {
      fault(entry.keyMark, "\(error.cause); \(error.remedy)")
    }
    return [rule]
  }

  private mutating func wrong(_ entry: YAMLNode.Entry, _ wanted: String) -> [String]? {
    fault(entry.value.mark, "\"\(entry.key)\" takes \(wanted), and this is \(Self.shown(entry))")
    return nil
  }

  private static func shown(_ entry: YAMLNode.Entry) -> String {
    if case .text(let text)? = entry.value.scalar, text.utf8.count <= 40 {
      return "\"\(ShownValues.of(entry.key, [text])[0])\""
    }
    return entry.value.kind
  }

  /// A text or number as it is written; nil for other and empty values.
  private func text(_ node: YAMLNode) -> String? {
    switch node.scalar {
    case .text?, .int?, .number?: node.text.flatMap { $0.isEmpty ? nil : $0 }
    case .bool?, .null?, nil: nil
    }
  }

  private func list(_ node: YAMLNode) -> [(text: String, mark: SourceMark)]? {
    if let text = text(node) { return [(text, node.mark)] }
    guard let list = node.list, !list.isEmpty else { return nil }
    let texts = list.compactMap { item in text(item).map { (text: $0, mark: item.mark) } }
    return texts.count == list.count ? texts : nil
  }

  private mutating func absolute(_ texts: [(text: String, mark: SourceMark)]) -> [String]? {
    var paths: [String] = []
    for (text, mark) in texts {
      let (path, problem) = path(text)
      if let problem { fault(mark, problem) }
      if let path { paths.append(path) }
    }
    return paths.count == texts.count ? paths : nil
  }

  private func path(_ text: String) -> (path: String?, problem: String?) {
    if text.hasPrefix("/") { return (text, nil) }
    if text.contains("://") { return (nil, "\"\(text)\" is a URL; add \"direction: download\" to fetch it") }
    guard text.hasPrefix("~/") else {
      return (nil, "\"\(text)\" is relative, but the working directory of a job is not fixed: begin it with / or ~/")
    }
    guard let home else { return (nil, "\"\(text)\" needs HOME, which is not set") }
    return (home + text.dropFirst(1), nil)
  }
}
