import TransferModel

/// Why the use of a filter is invalid.
struct FilterFault: Error, Hashable {
  var message: String
}

/// One `| filter(arguments)` of a template.
struct Filter: Sendable, Hashable {
  enum Name: String, Sendable, CaseIterable {
    case urlencode, pathencode, base64, base64url, hex, raw, upper, lower, json, pad, int, dec, join, basename, ext,
      httpdate
    case prepend, bearer
    case asciiJSON = "ascii_json"
    case byDefault = "default"
    case stripExt = "strip_ext"
    case iso8601
    case unixMs = "unix_ms"

    fileprivate var argumentCount: Int {
      switch self {
      case .pad, .join, .byDefault, .prepend: 1
      default: 0
      }
    }
  }

  var name: Name
  var arguments: [Expression]

  init(_ name: String, _ arguments: [Expression]) throws(FilterFault) {
    guard let known = Name(rawValue: name) else {
      let all = Name.allCases.map(\.rawValue).sorted().joined(separator: " ")
      throw FilterFault(message: "there is no filter \"\(name)\"; there are: \(all)")
    }
    guard arguments.count == known.argumentCount else {
      let wanted = known.argumentCount == 0 ? "no argument" : "one argument"
      throw FilterFault(message: "the filter \"\(name)\" takes \(wanted)")
    }
    self.name = known
    self.arguments = arguments
  }

  func apply(to value: TemplateValue, _ scope: ProfileScope) throws(RenderFault) -> TemplateValue {
    if name == .byDefault { return try Self.isEmpty(value) ? arguments[0].value(scope) : value }
    if case .missing(let name) = value { throw RenderFault(.missing, "\(name) has no value") }
    switch name {
    case .join: return try joined(value, scope)
    case .prepend: return .text(try arguments[0].value(scope).bytes() + value.bytes())
    case .pad: return try padded(value, scope)
    case .int: return .int(try value.integer())
    case .dec: return try Self.decimal(value)
    case .raw:
      if case .digest(let bytes) = value { return .text(bytes) }
      return value
    case .hex: return try Self.hexadecimal(value)
    case .httpdate, .iso8601, .unixMs: return try time(value)
    case .json: return .string(JSONText.of(try Self.json(value)))
    case .asciiJSON: return .string(JSONText.of(try Self.json(value), isASCII: true))
    default: return .text(try changed(value.bytes()))
    }
  }

  private static func isEmpty(_ value: TemplateValue) -> Bool {
    switch value {
    case .missing, .text([]), .list([]): true
    default: false
    }
  }

  /// The filters from text to text.
  private func changed(_ bytes: [UInt8]) -> [UInt8] {
    switch name {
    case .urlencode: Array(PercentEncoding.component(bytes).utf8)
    case .pathencode: Array(PercentEncoding.path(bytes).utf8)
    case .base64: Array(TransferModel.base64(bytes).utf8)
    case .base64url: Self.base64url(bytes)
    case .upper: bytes.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
    case .lower: bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    case .basename: NameBytes(bytes).lastComponent.bytes
    case .ext: FileName(bytes).ext
    case .stripExt: FileName(bytes).stem
    // A value with its own scheme is complete.
    case .bearer: bytes.isEmpty || bytes.contains(0x20) ? bytes : Array("Bearer ".utf8) + bytes
    default: bytes
    }
  }

  /// The alphabet of RFC 4648 section 5, with padding, as Qiniu requires.
  private static func base64url(_ bytes: [UInt8]) -> [UInt8] {
    TransferModel.base64(bytes).utf8.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 }
  }

  private static func hexadecimal(_ value: TemplateValue) throws(RenderFault) -> TemplateValue {
    switch value {
    case .int(let number): return .string(String(UInt64(bitPattern: number), radix: 16))
    case .digest(let bytes), .text(let bytes): return .string(hexText(bytes))
    default: throw RenderFault(.value, "the filter hex does not take \(value.kind)")
    }
  }

  /// A digest of up to 64 bits as a decimal number, as many servers write a CRC.
  private static func decimal(_ value: TemplateValue) throws(RenderFault) -> TemplateValue {
    guard case .digest(let bytes) = value else { return .string(String(try value.integer())) }
    guard bytes.count <= 8 else { throw RenderFault(.value, "the filter dec takes digests of up to 64 bits") }
    return .string(String(bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
  }

  private func joined(_ value: TemplateValue, _ scope: ProfileScope) throws(RenderFault) -> TemplateValue {
    guard case .list(let values) = value else {
      throw RenderFault(.value, "the filter join does not take \(value.kind)")
    }
    let separator = try arguments[0].value(scope).bytes()
    var out: [UInt8] = []
    for (i, value) in values.enumerated() { out += try (i > 0 ? separator : []) + value.bytes() }
    return .text(out)
  }

  private func padded(_ value: TemplateValue, _ scope: ProfileScope) throws(RenderFault) -> TemplateValue {
    let width = try arguments[0].value(scope).integer()
    guard (0...64).contains(width) else { throw RenderFault(.value, "the width of pad is not between 0 and 64") }
    let bytes = try value.bytes()
    return .text([UInt8](repeating: 0x30, count: max(0, Int(width) - bytes.count)) + bytes)
  }

  private func time(_ value: TemplateValue) throws(RenderFault) -> TemplateValue {
    guard case .time(let ms) = value, (-62_135_596_800_000..<253_402_300_800_000).contains(ms) else {
      throw RenderFault(.value, "the filter \(name.rawValue) takes a time")
    }
    switch name {
    case .httpdate: return .string(HTTPDate.text(wallMs: ms))
    case .iso8601: return .string(CivilTime(wallMs: ms).rfc3339Text)
    default: return .int(ms)
    }
  }

  static func json(_ value: TemplateValue) throws(RenderFault) -> JSONValue {
    switch value {
    case .int(let number): return .int(number)
    case .bool(let value): return .bool(value)
    case .list(let values):
      var list: [JSONValue] = []
      for value in values { list.append(try json(value)) }
      return .array(list)
    case .missing, .text, .time, .digest, .record: return .string(try value.text())
    }
  }
}

/// A file name, split at its last dot. A leading dot hides a file and does not begin an extension.
struct FileName {
  private let bytes: [UInt8]
  private let dot: Int?

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let start = bytes.lastIndex(of: 0x2F).map { $0 + 1 } ?? 0
    dot = bytes[start...].lastIndex(of: 0x2E).flatMap { $0 > start ? $0 : nil }
  }

  /// Without the dot; empty if there is none.
  var ext: [UInt8] { dot.map { Array(bytes[($0 + 1)...]) } ?? [] }
  var stem: [UInt8] { dot.map { Array(bytes[..<$0]) } ?? bytes }
}
