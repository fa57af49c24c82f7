import TransferModel

/// The state of a profile's session: values from answers, and the progress of the last steps. Stored in the ledger as
/// names and texts.
struct SessionNotes {
  let texts: [String: String]

  init(_ texts: [String: String]) { self.texts = texts }

  static let uuid = "uuid"
  /// A probe must precede any other request.
  static let probe = "probe"
  /// The whole upload is complete according to a probe: no last step is needed.
  static let complete = "complete"

  /// What an answer proved about the whole file.
  static let proved = "proved"

  static func session(_ name: String) -> String { "s.\(name)" }
  static func result(_ name: String) -> String { "r.\(name)" }
  /// The step is done, and only later ones are left.
  static func done(_ step: StepName) -> String { "done.\(step.rawValue)" }
  /// When the step began to poll, in milliseconds since 1970 UTC.
  static func poll(_ step: StepName) -> String { "poll.\(step.rawValue)" }
  /// Statuses of earlier attempts; `key` identifies the step, and the chunk if there is one.
  static func seen(_ key: String) -> String { "seen.\(key)" }
  /// How often a rule was applied.
  static func count(_ key: String, _ rule: Int) -> String { "count.\(key).\(rule)" }

  var wantsProbe: Bool { texts[Self.probe] != nil }
  var proved: Confirmation? { texts[Self.proved].flatMap { Confirmation(rawValue: $0) } }
  var isComplete: Bool { texts[Self.complete] != nil }

  func isDone(_ step: StepName) -> Bool { texts[Self.done(step)] != nil }
  func pollsSinceMs(_ step: StepName) -> Int64? { texts[Self.poll(step)].flatMap { Int64($0) } }
  func count(_ key: String, _ rule: Int) -> Int { texts[Self.count(key, rule)].flatMap { Int($0) } ?? 0 }

  func seen(_ key: String) -> Set<Int> {
    Set(texts[Self.seen(key)]?.split(separator: ",").compactMap { Int($0) } ?? [])
  }

  var sessionValues: [String: TemplateValue] { values("s.") }
  var resultValues: [String: TemplateValue] { values("r.") }

  private func values(_ prefix: String) -> [String: TemplateValue] {
    var values: [String: TemplateValue] = [:]
    for (name, text) in texts where name.hasPrefix(prefix) {
      values[String(name.dropFirst(prefix.count))] = StoredValue.read(text)
    }
    return values
  }
}

/// A value as text that keeps its type: JSON, and `{"time":milliseconds}` for a time.
enum StoredValue {
  static func text(_ value: TemplateValue) -> String { JSONText.of(json(value)) }

  /// nil for text that ``text(_:)`` did not write.
  static func read(_ text: String) -> TemplateValue? {
    guard let json = try? JSONReader.read(Array(text.utf8)) else { return nil }
    return value(json)
  }

  static func read(all texts: [String: String]) -> [String: TemplateValue] { texts.compactMapValues(read) }

  private static func json(_ value: TemplateValue) -> JSONValue {
    switch value {
    case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
    case .int(let number): .int(number)
    case .bool(let value): .bool(value)
    case .time(let ms): .object([JSONValue.Member(name: "time", value: .int(ms))])
    case .digest(let bytes): .object([JSONValue.Member(name: "digest", value: .array(bytes.map { .int(Int64($0)) }))])
    case .list(let values): .array(values.map(json))
    case .record, .missing: .null
    }
  }

  private static func value(_ json: JSONValue) -> TemplateValue? {
    switch json {
    case .null: return nil
    case .bool(let value): return .bool(value)
    case .int(let number): return .int(number)
    case .number(let text), .string(let text): return .string(text)
    case .array(let values): return .list(values.compactMap(value))
    case .object:
      if case .int(let ms)? = json["time"] { return .time(ms) }
      guard case .array(let bytes)? = json["digest"] else { return nil }
      return .digest(
        bytes.compactMap { byte in
          if case .int(let number) = byte { UInt8(exactly: number) } else { nil }
        })
    }
  }
}
