import TransferModel

/// A value to be extracted from an answer.
struct Extraction: Sendable, Hashable {
  enum Source: Sendable, Hashable {
    case json(JSONPath)
    case xml(XMLPath)
    case header(String)
    case status
    /// The whole body as text.
    case body
  }

  enum Kind: String, Sendable, CaseIterable {
    case string, int, time, bool
  }

  var source: Source
  /// Applied to the extracted text; its first group is the value.
  var pattern: BytePattern?
  /// Resolved against the URL of the request.
  var resolvesURL = false
  var plus: Int64 = 0
  var kind: Kind?
  var byDefault: TemplateValue?
  var isRequired = false
  /// Extracted only if this condition holds.
  var when: Expression?

  /// Why a value cannot be extracted.
  struct Fault: Error, Hashable {
    var message: String
  }

  /// The value; nil if there is none and none is required. Paths that match any number of values give a list.
  func value(in reply: ReplyReader, _ scope: ProfileScope) throws(Fault) -> TemplateValue? {
    guard try isWanted(scope) else { return nil }
    let found = try values(in: reply)
    if isList, !found.isEmpty || (isRequired && byDefault == nil && isThere(in: reply)) { return .list(found) }
    if let first = found.first { return first }
    if let byDefault { return byDefault }
    guard !isRequired else { throw Fault(message: "the answer has no \(place)") }
    return nil
  }

  /// All values that exist, in order. An unreadable body is a fault only if something in it is required.
  func values(in reply: ReplyReader) throws(Fault) -> [TemplateValue] {
    var values: [TemplateValue] = []
    for raw in try found(in: reply) {
      if let value = try refined(raw, reply) { values.append(value) }
    }
    return values
  }

  /// The elements of a list, each converted separately. A list that is unreadable, or missing although required, does
  /// not count as empty. With `isStrict` the list is required, and each element must be a valid value.
  func elements(in reply: ReplyReader, isStrict: Bool) throws(Fault) -> [TemplateValue] {
    if let fault = reply.documentFault(source) { throw Fault(message: fault) }
    guard isThere(in: reply) || !(isStrict || isRequired) else { throw Fault(message: "the answer has no \(place)") }
    var values: [TemplateValue] = []
    for raw in try rawElements(in: reply) {
      if let value = try raw.flatMap({ raw throws(Fault) in try refined(raw, reply) }) {
        values.append(value)
      } else if isStrict {
        throw Fault(message: "\(place) of the answer contains an invalid element")
      }
    }
    return values
  }

  /// nil stands for `null`.
  private func rawElements(in reply: ReplyReader) throws(Fault) -> [TemplateValue?] {
    guard case .json(let path) = source, let document = try? reply.jsonDocument() else { return try found(in: reply) }
    return path.values(in: document).flatMap { value -> [JSONValue] in
      if case .array(let list) = value { list } else { [value] }
    }.map(Self.value)
  }

  private func isThere(in reply: ReplyReader) -> Bool {
    if case .json(let path) = source { return (try? reply.jsonDocument()).map(path.finds) ?? false }
    return (try? found(in: reply))?.isEmpty == false
  }

  private var isList: Bool {
    if case .json(let path) = source { path.isMany } else { false }
  }

  func isWanted(_ scope: ProfileScope) throws(Fault) -> Bool {
    do throws(RenderFault) {
      return try when?.value(scope).isTrue ?? true
    } catch {
      throw Fault(message: error.message)
    }
  }

  /// The source of the value, for display.
  var place: String {
    switch source {
    case .json(let path): printable(path.source)
    case .xml(let path): printable(path.source)
    case .header(let name): "header \(printable(name))"
    case .status: "status"
    case .body: "text that matches"
    }
  }

  private func found(in reply: ReplyReader) throws(Fault) -> [TemplateValue] {
    switch source {
    case .status: return [.int(Int64(reply.status))]
    case .body: return [.text(reply.body)]
    case .header(let name): return reply.field(name).map { [.string($0)] } ?? []
    case .json(let path):
      return try document { () throws(ReplyReader.DocumentFault) in
        path.values(in: try reply.jsonDocument()).compactMap(Self.value)
      }
    case .xml(let path):
      return try document { () throws(ReplyReader.DocumentFault) in
        path.texts(in: try reply.xmlDocument()).map { .string($0) }
      }
    }
  }

  private func document(
    _ read: () throws(ReplyReader.DocumentFault) -> [TemplateValue]
  ) throws(Fault) -> [TemplateValue] {
    do throws(ReplyReader.DocumentFault) {
      return try read()
    } catch {
      if isRequired { throw Fault(message: error.message) }
      return []
    }
  }

  /// `null` is not a value; objects and lists give their own text.
  private static func value(_ json: JSONValue) -> TemplateValue? {
    switch json {
    case .null: nil
    case .bool(let value): .bool(value)
    case .int(let value): .int(value)
    case .number(let text), .string(let text): .string(text)
    case .array(let values): .list(values.compactMap(value))
    case .object: .string(JSONText.of(json))
    }
  }

  /// nil if the pattern does not match.
  private func refined(_ raw: TemplateValue, _ reply: ReplyReader) throws(Fault) -> TemplateValue? {
    var value = raw
    if let pattern {
      guard let bytes = try? raw.bytes(), let match = pattern.firstMatch(in: bytes) else { return nil }
      value = .text(match)
    }
    if resolvesURL {
      guard let text = try? value.text() else { throw Fault(message: "\(place) of the answer is not a URL") }
      value = .string(URLReference.resolve(text, against: reply.url))
    }
    value = try typed(value)
    guard plus != 0 else { return value }
    guard let number = try? value.integer() else {
      throw Fault(message: "\(place) of the answer is not a whole number")
    }
    let (sum, isOverflow) = number.addingReportingOverflow(plus)
    guard !isOverflow else { throw Fault(message: "\(place) of the answer is too large a number") }
    return .int(sum)
  }

  private func typed(_ value: TemplateValue) throws(Fault) -> TemplateValue {
    switch kind {
    case nil: return value
    case .string?:
      guard let bytes = try? value.bytes() else { throw Fault(message: "\(place) of the answer is \(value.kind)") }
      return .text(bytes)
    case .int?:
      guard let number = try? value.integer() else {
        throw Fault(message: "\(place) of the answer is not a whole number")
      }
      return .int(number)
    case .bool?:
      guard let isTrue = Self.truth(value) else {
        throw Fault(message: "\(place) of the answer is neither true nor false")
      }
      return .bool(isTrue)
    case .time?:
      guard let ms = Self.time(value) else { throw Fault(message: "\(place) of the answer is not a time") }
      return .time(ms)
    }
  }

  private static func truth(_ value: TemplateValue) -> Bool? {
    switch try? value.text() {
    case "true"?, "1"?: true
    case "false"?, "0"?: false
    default: nil
    }
  }

  /// Seconds or milliseconds since 1970 UTC (a number that would be after the year 5138 in seconds is in milliseconds),
  /// RFC 3339, or an HTTP date.
  private static func time(_ value: TemplateValue) -> Int64? {
    if let number = try? value.integer(), number >= 0 {
      return number > 99_999_999_999 ? number : number * 1000
    }
    guard let text = try? value.text() else { return nil }
    return CivilTime.wallMs(rfc3339: text) ?? HTTPDate.parse(text)
  }
}
