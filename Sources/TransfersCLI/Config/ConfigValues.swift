import StrictYAML
import TransferModel
import Transfers

/// Reads the value of one key of a configuration as the kind that the key takes. Pure.
struct ConfigValues {
  /// The expansion of `~/`; nil if unknown.
  private let home: String?

  init(home: String?) { self.home = home }

  /// nil after a fault.
  func read(_ entry: YAMLNode.Entry, _ key: ConfigKey, _ faults: inout ConfigFaults) -> [String]? {
    let node = entry.value
    switch key.kind {
    case .flag:
      if case .bool(let flag)? = node.scalar { return [flag ? "true" : "false"] }
      return wrong(entry, "true or false", &faults)
    case .text: return text(node).map { [$0] } ?? wrong(entry, "text", &faults)
    case .choice(let words):
      guard let text = text(node), words.contains(text) else {
        return wrong(entry, words.joined(separator: ", "), &faults)
      }
      return [text]
    case .path:
      guard let text = text(node) else { return wrong(entry, "a path", &faults) }
      return absolute([(text, node.mark)], &faults)
    case .fate:
      guard let text = text(node) else { return wrong(entry, "keep, delete or move:FOLDER", &faults) }
      guard text.hasPrefix("move:") else { return [text] }
      return absolute([(String(text.dropFirst(5)), node.mark)], &faults)?.map { "move:" + $0 }
    case .list: return list(node)?.map(\.text) ?? wrong(entry, "text, or a list of texts", &faults)
    case .paths:
      guard let list = list(node) else { return wrong(entry, "a path, or a list of paths", &faults) }
      return absolute(list, &faults)
    case .rules: return rules(entry, &faults)
    case .map:
      guard let entries = node.entries else { return wrong(entry, "a map of texts", &faults) }
      var pairs: [String] = []
      for pair in entries {
        guard let value = text(pair.value), !pair.key.contains("=") else { return wrong(pair, "text", &faults) }
        pairs.append("\(pair.key)=\(value)")
      }
      return pairs
    }
  }

  /// `{match: "**/*.bam", storage_class: GLACIER, headers: {…}, tags: {…}}`, each setting as one rule.
  private func rules(_ entry: YAMLNode.Entry, _ faults: inout ConfigFaults) -> [String]? {
    guard let list = entry.value.list, !list.isEmpty else { return wrong(entry, "a list of rules", &faults) }
    let before = faults.count
    var texts: [String] = []
    for item in list {
      let parts = faults.entries(item, "a rule")
      guard let match = parts.first(where: { $0.key == "match" }).flatMap({ text($0.value) }), parts.count > 1 else {
        faults.add(item.mark, "a rule needs \"match\", a pattern, and at least one setting")
        continue
      }
      for part in parts where part.key != "match" { texts += rule(match, part, &faults) }
    }
    return faults.count == before ? texts : nil
  }

  private func rule(_ match: String, _ part: YAMLNode.Entry, _ faults: inout ConfigFaults) -> [String] {
    switch part.key {
    case "content_type", "storage_class": return rule(match, part.key, part, &faults)
    case "headers", "tags":
      guard let entries = part.value.entries else {
        _ = wrong(part, "a map of texts", &faults)
        return []
      }
      return entries.flatMap { rule(match, "\(part.key.dropLast()).\($0.key)", $0, &faults) }
    default:
      faults.addUnknown(part, ["match", "content_type", "storage_class", "headers", "tags"])
      return []
    }
  }

  private func rule(
    _ match: String, _ setting: String, _ entry: YAMLNode.Entry, _ faults: inout ConfigFaults
  ) -> [String] {
    guard let value = text(entry.value) else {
      _ = wrong(entry, "text", &faults)
      return []
    }
    let rule = "\(match):\(setting)=\(value)"
    do throws(TransferError) { _ = try ProtocolCatalog.objectRule(rule) } catch {
      faults.add(entry.keyMark, "\(error.cause); \(error.remedy)")
    }
    return [rule]
  }

  private func wrong(_ entry: YAMLNode.Entry, _ wanted: String, _ faults: inout ConfigFaults) -> [String]? {
    faults.add(entry.value.mark, "\"\(entry.key)\" takes \(wanted), and this is \(Self.shown(entry))")
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

  private func absolute(
    _ texts: [(text: String, mark: SourceMark)], _ faults: inout ConfigFaults
  ) -> [String]? {
    var paths: [String] = []
    for (text, mark) in texts {
      let (path, problem) = path(text)
      if let problem { faults.add(mark, problem) }
      if let path { paths.append(path) }
    }
    return paths.count == texts.count ? paths : nil
  }

  func path(_ text: String) -> (path: String?, problem: String?) {
    if text.hasPrefix("/") { return (text, nil) }
    if text.contains("://") { return (nil, "\"\(text)\" is a URL; add \"direction: download\" to fetch it") }
    guard text.hasPrefix("~/") else {
      return (nil, "\"\(text)\" is relative, but the working directory of a job is not fixed: begin it with / or ~/")
    }
    guard let home else { return (nil, "\"\(text)\" needs HOME, which is not set") }
    return (home + text.dropFirst(1), nil)
  }
}
