public import TransferModel

/// One request, completely read and checked. Source: RFC 9112.
public struct HTTPRequest: Sendable, Hashable {
  public struct Field: Sendable, Hashable {
    public let name: String
    public let value: String

    public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
  }

  /// One term of the query, percent-decoded.
  public struct Term: Sendable, Hashable {
    public let name: String
    public let value: NameBytes

    public init(_ name: String, _ value: NameBytes) { (self.name, self.value) = (name, value) }
  }

  public let method: String
  /// Percent-decoded, without empty segments: `/` has none.
  public let path: [String]
  public let query: [Term]
  /// Names in lower case, in the order of arrival.
  public let fields: [Field]
  public var body: [UInt8] = []

  public init(method: String, path: [String], query: [Term] = [], fields: [Field] = [], body: [UInt8] = []) {
    (self.method, self.path, self.query, self.fields, self.body) = (method, path, query, fields, body)
  }

  /// The value of a field; nil when it is absent or there are several.
  public subscript(name: String) -> String? {
    let found = fields.filter { $0.name == name }
    return found.count == 1 ? found[0].value : nil
  }

  public func has(_ name: String) -> Bool { fields.contains { $0.name == name } }

  /// Parses terms of forms and queries: `a=1&b=two+words`. Nil if one is invalid.
  /// Source: WHATWG URL Standard section 5.1.
  public static func terms(_ text: some Sequence<UInt8>) -> [Term]? {
    var terms: [Term] = []
    for pair in Array(text).split(separator: 0x26) {
      let equals = pair.firstIndex(of: 0x3D) ?? pair.endIndex
      let name = pair[..<equals]
      let value = equals < pair.endIndex ? pair[(equals + 1)...] : []
      guard let name = percentDecoded(name, plusIsSpace: true), let value = percentDecoded(value, plusIsSpace: true),
        let name = String(validating: name, as: UTF8.self)
      else { return nil }
      terms.append(Term(name, NameBytes(value)))
    }
    return terms
  }

  /// Nil for an invalid escape or an escaped NUL.
  static func percentDecoded(_ text: ArraySlice<UInt8>, plusIsSpace: Bool) -> [UInt8]? {
    var (out, at) = ([UInt8](), text.startIndex)
    out.reserveCapacity(text.count)
    while at < text.endIndex {
      switch text[at] {
      case 0x25:
        guard at + 2 < text.endIndex, let high = hexDigit(text[at + 1]), let low = hexDigit(text[at + 2]),
          high << 4 | low != 0
        else { return nil }
        out.append(high << 4 | low)
        at += 3
      case 0x2B where plusIsSpace:
        out.append(0x20)
        at += 1
      default:
        out.append(text[at])
        at += 1
      }
    }
    return out
  }

  private static func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}
