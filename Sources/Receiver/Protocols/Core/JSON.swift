import FoundationEssentials

/// A JSON value, sufficient for small protocol messages and the lines of the record.
enum JSON: Equatable, Sendable {
  case null
  case bool(Bool)
  case number(Int64)
  case text(String)
  case array([JSON])
  /// In the order in which the members are written.
  case object([Member])

  struct Member: Equatable, Sendable {
    var name: String
    var value: JSON
  }

  /// Reads one value; nil when the bytes are not one.
  init?(_ bytes: [UInt8]) {
    guard let read = try? JSONDecoder().decode(JSON.self, from: Data(bytes)) else { return nil }
    self = read
  }

  subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  var text: String? { if case .text(let text) = self { text } else { nil } }
  var number: Int64? { if case .number(let number) = self { number } else { nil } }
  var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
  var array: [JSON]? { if case .array(let array) = self { array } else { nil } }

  var bytes: [UInt8] {
    var out: [UInt8] = []
    write(to: &out)
    return out
  }

  private func write(to out: inout [UInt8]) {
    switch self {
    case .null: out += "null".utf8
    case .bool(let bool): out += (bool ? "true" : "false").utf8
    case .number(let number): out += String(number).utf8
    case .text(let text): appendJSONString(text, to: &out)
    case .array(let items): Self.write(items, "[", "]", to: &out) { $0.write(to: &$1) }
    case .object(let members):
      Self.write(members, "{", "}", to: &out) { member, out in
        appendJSONString(member.name, to: &out)
        out.append(0x3A)
        member.value.write(to: &out)
      }
    }
  }

  private static func write<Item>(
    _ items: [Item], _ open: String, _ close: String, to out: inout [UInt8], _ one: (Item, inout [UInt8]) -> Void
  ) {
    out += open.utf8
    for (i, item) in items.enumerated() {
      if i > 0 { out.append(0x2C) }
      one(item, &out)
    }
    out += close.utf8
  }
}

extension JSON: Decodable {
  private struct Name: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    // The most frequent types come first: each wrong guess throws an error, which takes far longer than reading.
    if let scalar = try Self.scalar(try decoder.singleValueContainer()) {
      self = scalar
    } else if let members = try? decoder.container(keyedBy: Name.self) {
      self = .object(
        try members.allKeys.sorted { $0.stringValue < $1.stringValue }.map {
          Member(name: $0.stringValue, value: try members.decode(JSON.self, forKey: $0))
        })
    } else if var items = try? decoder.unkeyedContainer() {
      var array: [JSON] = []
      while !items.isAtEnd { array.append(try items.decode(JSON.self)) }
      self = .array(array)
    } else {
      // No protocol here uses fractions: such a number is read as null.
      _ = try decoder.singleValueContainer().decode(Double.self)
      self = .null
    }
  }

  /// nil for an object, an array or a number with a fraction.
  private static func scalar(_ value: any SingleValueDecodingContainer) throws -> JSON? {
    if value.decodeNil() { return .null }
    if let text = try? value.decode(String.self) { return .text(text) }
    if let number = try? value.decode(Int64.self) { return .number(number) }
    return (try? value.decode(Bool.self)).map(JSON.bool)
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByDictionaryLiteral {
  init(stringLiteral value: String) { self = .text(value) }
  init(integerLiteral value: Int64) { self = .number(value) }
  init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(elements.map { Member(name: $0.0, value: $0.1) })
  }

  /// This object with one more member.
  func adding(_ name: String, _ value: JSON) -> JSON {
    guard case .object(let members) = self else { return self }
    return .object(members + [Member(name: name, value: value)])
  }
}

/// Appends text as a JSON string, including its quotes.
private func appendJSONString(_ text: String, to out: inout [UInt8]) {
  out.append(0x22)
  for byte in text.utf8 {
    switch byte {
    case 0x22, 0x5C:
      out.append(0x5C)
      out.append(byte)
    case 0..<0x20: out += Array("\\u00".utf8) + Array((byte < 16 ? "0" : "").utf8) + String(byte, radix: 16).utf8
    default: out.append(byte)
    }
  }
  out.append(0x22)
}
