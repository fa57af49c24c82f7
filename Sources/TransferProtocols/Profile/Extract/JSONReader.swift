import StrictYAML

/// Why JSON from a server is refused.
enum JSONFault: Error, Hashable {
  case tooLarge, tooDeep, notUTF8, loneSurrogate
  case syntax(offset: Int)
}

/// Parses a complete JSON text, at most 4 MiB and 64 levels deep, so that an answer cannot overflow the stack or fill
/// the memory.
struct JSONReader {
  static let largest = 4 << 20
  static let deepest = 64

  private let bytes: [UInt8]
  private var position = 0
  private var hasLoneSurrogate = false

  /// - Parameter isExact: refuses texts that are no Unicode, such as names in which another program has hidden bytes
  ///   that are not UTF-8.
  static func read(_ bytes: [UInt8], isExact: Bool = false) throws(JSONFault) -> JSONValue {
    guard bytes.count <= largest else { throw .tooLarge }
    guard String(validating: bytes, as: UTF8.self) != nil else { throw .notUTF8 }
    var reader = JSONReader(bytes: bytes)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
    let value = try reader.value(depth: 0)
    reader.skipBlanks()
    guard reader.position == bytes.count else { throw reader.fault }
    if isExact, reader.hasLoneSurrogate { throw .loneSurrogate }
    return value
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var fault: JSONFault { .syntax(offset: position) }
  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D { position += 1 }
  }

  private mutating func value(depth: Int) throws(JSONFault) -> JSONValue {
    guard depth < Self.deepest else { throw .tooDeep }
    skipBlanks()
    switch next {
    case 0x7B: return .object(try members(depth))
    case 0x5B: return .array(try elements(depth))
    case 0x22: return .string(try string())
    case 0x74: return try word("true", .bool(true))
    case 0x66: return try word("false", .bool(false))
    case 0x6E: return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func word(_ text: StaticString, _ value: JSONValue) throws(JSONFault) -> JSONValue {
    let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard bytes[position...].starts(with: wanted) else { throw fault }
    position += wanted.count
    return value
  }

  private mutating func number() throws(JSONFault) -> JSONValue {
    let text = bytes[position...].prefix { byte in
      (0x30...0x39).contains(byte) || byte == 0x2B || byte == 0x2D || byte == 0x2E || byte | 0x20 == 0x65
    }
    guard JSONNumber.isNumber(text) else { throw fault }
    position = text.endIndex
    let written = String(decoding: text, as: UTF8.self)
    return Int64(written).map { .int($0) } ?? .number(written)
  }

  private mutating func elements(_ depth: Int) throws(JSONFault) -> [JSONValue] {
    var values: [JSONValue] = []
    position += 1
    skipBlanks()
    if take(0x5D) { return values }
    repeat { values.append(try value(depth: depth + 1)) } while try more(0x5D)
    return values
  }

  private mutating func members(_ depth: Int) throws(JSONFault) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    position += 1
    skipBlanks()
    if take(0x7D) { return members }
    repeat {
      skipBlanks()
      guard next == 0x22 else { throw fault }
      let name = try string()
      skipBlanks()
      guard take(0x3A) else { throw fault }
      members.append(JSONValue.Member(name: name, value: try value(depth: depth + 1)))
    } while try more(0x7D)
    return members
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  /// After an element: a comma and another one, or the end.
  private mutating func more(_ end: UInt8) throws(JSONFault) -> Bool {
    skipBlanks()
    if take(0x2C) { return true }
    guard take(end) else { throw fault }
    return false
  }

  private mutating func string() throws(JSONFault) -> String {
    var out: [UInt8] = []
    position += 1
    while let byte = next {
      switch byte {
      case 0x22:
        position += 1
        return String(decoding: out, as: UTF8.self)
      case 0x5C: try escape(&out)
      case 0..<0x20: throw fault
      default:
        out.append(byte)
        position += 1
      }
    }
    throw fault
  }

  private mutating func escape(_ out: inout [UInt8]) throws(JSONFault) {
    position += 1
    guard let byte = next else { throw fault }
    position += 1
    switch byte {
    case 0x22, 0x5C, 0x2F: out.append(byte)
    case 0x62: out.append(0x08)
    case 0x66: out.append(0x0C)
    case 0x6E: out.append(0x0A)
    case 0x72: out.append(0x0D)
    case 0x74: out.append(0x09)
    case 0x75: out += Array(String(Character(try scalar())).utf8)
    default: throw fault
    }
  }

  /// The scalar of `\uXXXX`, or of a surrogate pair. Unpaired surrogates become the replacement character.
  private mutating func scalar() throws(JSONFault) -> Unicode.Scalar {
    let high = try unit()
    guard (0xD800..<0xDC00).contains(high), bytes[position...].starts(with: [0x5C, 0x75]) else {
      return Unicode.Scalar(high) ?? replaced()
    }
    let before = position
    position += 2
    let low = try unit()
    guard (0xDC00..<0xE000).contains(low) else {
      position = before
      return replaced()
    }
    return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
  }

  private mutating func replaced() -> Unicode.Scalar {
    hasLoneSurrogate = true
    return "\u{FFFD}"
  }

  private mutating func unit() throws(JSONFault) -> UInt32 {
    let digits = bytes[position...].prefix(4).map { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count == 4, !digits.contains(nil) else { throw fault }
    position += 4
    return digits.reduce(0) { $0 << 4 | UInt32($1 ?? 0) }
  }
}
