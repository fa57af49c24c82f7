import StrictYAML
import TransferModel
import Transfers

/// Parses one configuration file. Pure: bytes in, the configuration and all errors out.
struct ConfigReader {
  private let schema: ConfigSchema
  private let values: ConfigValues
  private var config = Config()
  private var faults: ConfigFaults

  /// Errors are in text order; the configuration contains the valid parts.
  static func read(
    _ bytes: [UInt8], file: String, home: String?, schema: ConfigSchema = .current
  ) -> (config: Config, faults: [ConfigFault]) {
    var reader = ConfigReader(file: file, schema: schema, home: home)
    do throws(YAMLFault) {
      if !isBlank(bytes) {
        let (root, duplicates) = try YAMLReader.readAll(bytes, as: "a configuration")
        for fault in duplicates { reader.faults.add(fault.mark, fault.message) }
        reader.document(root)
      }
    } catch {
      reader.faults.add(error.mark, error.message)
    }
    reader.config.files = [file]
    reader.config.unusable = reader.faults.ofJobs
    return (reader.config, reader.faults.sorted)
  }

  private init(file: String, schema: ConfigSchema, home: String?) {
    (self.schema, values, faults) = (schema, ConfigValues(home: home), ConfigFaults(file: file))
  }

  /// A file with only comments and blank lines is valid and empty.
  private static func isBlank(_ bytes: [UInt8]) -> Bool {
    bytes.split(separator: 0x0A).allSatisfy { line in
      let text = line.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
      return text.isEmpty || text.first == 0x23
    }
  }

  private mutating func document(_ root: YAMLNode) {
    for entry in faults.entries(root, "a configuration") {
      if entry.key == "defaults" {
        for setting in settings(entry.value, schema.defaults, "defaults") {
          config.defaults[setting.option ?? setting.key] = setting
        }
      } else if let kind = ConfigSection.Kind.allCases.first(where: { $0.plural == entry.key }) {
        for section in faults.entries(entry.value, entry.key) { self.section(kind, section) }
      } else {
        faults.addUnknown(entry, ConfigSchema.top)
      }
    }
  }

  private mutating func section(_ kind: ConfigSection.Kind, _ entry: YAMLNode.Entry) {
    if let problem = Self.problem(name: entry.key, kind) { faults.add(entry.keyMark, problem) }
    let direction =
      entry.value.entries?.first { $0.key == "direction" }?.value.text == "download" ? Direction.download : .upload
    faults.job = kind == .job ? entry.key : nil
    let settings = settings(entry.value, schema.keys(kind, direction), "\(kind.rawValue) \"\(entry.key)\"")
    let section = ConfigSection(kind: kind, name: entry.key, place: faults.place(entry.keyMark), settings: settings)
    require(section, entry)
    faults.job = nil
    config.add(section)
  }

  private mutating func settings(
    _ node: YAMLNode, _ keys: [String: ConfigKey], _ what: String
  ) -> [ConfigSetting] {
    var settings: [ConfigSetting] = []
    for entry in faults.entries(node, what) {
      guard let key = keys[entry.key] else {
        faults.addUnknown(entry, Array(keys.keys))
        continue
      }
      guard let values = values.read(entry, key, &faults) else { continue }
      settings.append(
        ConfigSetting(key: entry.key, option: key.option, values: values, place: faults.place(entry.value.mark)))
    }
    return settings
  }

  private mutating func require(_ section: ConfigSection, _ entry: YAMLNode.Entry) {
    let written = Set((entry.value.entries ?? []).map(\.key))
    var needed = section.kind == .job ? ["from", "to"] : ["url"]
    if !written.isDisjoint(with: ["files_from", "files_from0"]) { needed.removeAll { $0 == "from" } }
    for key in needed where !written.contains(key) {
      faults.add(entry.keyMark, "\(section.kind.rawValue) \"\(section.name)\" needs \"\(key)\"")
    }
    if section.kind != .job, let url = section["url"], let problem = ConfigURL.problem(url.value) {
      faults.add(ConfigFault(place: url.place, message: problem))
    }
    if section.kind == .job {
      do throws(ScheduleFault) {
        _ = try JobSchedule(section)
        _ = try JobQuotaText.quota(section)
      } catch { faults.add(error.fault) }
      if let watch = section["watch"], watch.isTrue, section["from"] == nil {
        let message = "\"watch\" takes the folders of \"from\", and not a list of files; give \"every\" instead"
        faults.add(ConfigFault(place: watch.place, message: message))
      }
    }
    if section.direction == .download, let to = section["to"] {
      if let problem = values.path(to.value).problem { faults.add(ConfigFault(place: to.place, message: problem)) }
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
      return "invalid name \"\(name)\": 2 to 64 letters, digits, \"-\", \".\" and \"_\""
    }
    guard kind != .job, ConfigURL.schemes.contains(name.lowercased()) else { return nil }
    return "\"\(name)\" is the scheme of a URL, so \"\(name):\" would be ambiguous; choose another name"
  }
}
