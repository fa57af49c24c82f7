/// Why XML from a server is refused.
enum XMLFault: Error, Hashable {
  case tooLarge, tooDeep, tooMany, doctype, syntax, unfinished
}

/// Extracts elements and text from XML documents: the small ones of S3, and Metalink files.
///
/// Refuses document types and entities other than the five of XML and character references, and has limits: a document
/// cannot make it read a file, loop or fill the memory. Names are local names, because servers disagree about the
/// namespace.
struct XMLScanner {
  struct Limits: Sendable {
    /// Maximum size of the document.
    let bytes: Int
    let depth: Int
    let elements: Int

    static let answer = Limits(bytes: 4 << 20, depth: 16, elements: 65_536)
  }

  enum Event: Hashable {
    case open(String)
    case text(String)
    case close
  }

  private let bytes: [UInt8]
  private let limits: Limits
  /// The position of the next event.
  private(set) var position = 0
  /// The last opened tag: its name with the prefix, and the rest of the tag.
  private var openedTag: ArraySlice<UInt8> = []
  private var openNames: [ArraySlice<UInt8>] = []
  private var elements = 0
  private var hasRoot = false
  /// The pending close event of an empty element `<a/>`.
  private var owesClose = false

  init(_ bytes: [UInt8], _ limits: Limits = .answer) throws(XMLFault) {
    guard bytes.count <= limits.bytes else { throw .tooLarge }
    self.bytes = bytes
    self.limits = limits
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// The next event; nil at the end of a complete document.
  mutating func next() throws(XMLFault) -> Event? {
    if owesClose {
      owesClose = false
      openNames.removeLast()
      return .close
    }
    while position < bytes.count {
      if bytes[position] != 0x3C {
        if let text = try text() { return text }
      } else if starts("<!--") {
        try skip(through: "-->")
      } else if starts("<?") {
        try skip(through: "?>")
      } else if starts("<![CDATA[") {
        return try cdata()
      } else if starts("<!") {
        throw .doctype
      } else {
        return try tag()
      }
    }
    guard hasRoot, openNames.isEmpty else { throw .unfinished }
    return nil
  }

  private func starts(_ text: StaticString) -> Bool {
    let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    return bytes[position...].starts(with: wanted)
  }

  private mutating func skip(through end: StaticString) throws(XMLFault) {
    while position < bytes.count {
      if starts(end) {
        position += end.utf8CodeUnitCount
        return
      }
      position += 1
    }
    throw .unfinished
  }

  private mutating func cdata() throws(XMLFault) -> Event {
    guard !openNames.isEmpty else { throw .syntax }
    position += 9
    let start = position
    try skip(through: "]]>")
    return .text(String(decoding: bytes[start..<position - 3], as: UTF8.self))
  }

  /// Text up to the next tag; outside of the root only white space is allowed.
  private mutating func text() throws(XMLFault) -> Event? {
    let end = bytes[position...].firstIndex(of: 0x3C) ?? bytes.count
    let raw = bytes[position..<end]
    position = end
    guard !openNames.isEmpty else {
      guard raw.allSatisfy(Self.isBlank) else { throw .syntax }
      return nil
    }
    return .text(try Self.unescaped(raw))
  }

  private mutating func tag() throws(XMLFault) -> Event {
    guard let end = tagEnd() else { throw .unfinished }
    var inside = bytes[position + 1..<end]
    position = end + 1
    if inside.first == 0x2F {
      inside = inside.dropFirst()
      while let last = inside.last, Self.isBlank(last) { inside = inside.dropLast() }
      guard let open = openNames.popLast(), open == inside else { throw .syntax }
      return .close
    }
    let isEmpty = inside.last == 0x2F
    if isEmpty { inside = inside.dropLast() }
    return try opened(inside, isEmpty: isEmpty)
  }

  private mutating func opened(_ inside: ArraySlice<UInt8>, isEmpty: Bool) throws(XMLFault) -> Event {
    let name = inside.prefix { !Self.isBlank($0) }
    guard Self.isName(name), !(hasRoot && openNames.isEmpty) else { throw .syntax }
    guard openNames.count < limits.depth else { throw .tooDeep }
    elements += 1
    guard elements <= limits.elements else { throw .tooMany }
    hasRoot = true
    openNames.append(name)
    openedTag = inside
    owesClose = isEmpty
    let local = name.split(separator: 0x3A).last ?? name
    return .open(String(decoding: local, as: UTF8.self))
  }

  /// The `>` of the tag, ignoring those inside quoted attributes.
  private func tagEnd() -> Int? {
    var quote: UInt8?
    for i in position + 1..<bytes.count {
      let byte = bytes[i]
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == 0x22 || byte == 0x27 {
        quote = byte
      } else if byte == 0x3E {
        return i
      }
    }
    return nil
  }

  fileprivate static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  fileprivate static func isName(_ name: ArraySlice<UInt8>) -> Bool {
    guard let first = name.first, !(0x30...0x39).contains(first), first != 0x2D, first != 0x2E else { return false }
    return name.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x3A, 0x5F, 0x80...0xFF: true
      default: false
      }
    }
  }

  fileprivate static func unescaped(_ raw: ArraySlice<UInt8>) throws(XMLFault) -> String {
    guard raw.contains(0x26) else { return String(decoding: raw, as: UTF8.self) }
    var out: [UInt8] = []
    var rest = raw
    while let byte = rest.first {
      guard byte == 0x26 else {
        out.append(byte)
        rest = rest.dropFirst()
        continue
      }
      guard let end = rest.prefix(12).firstIndex(of: 0x3B) else { throw .syntax }
      out += try entity(rest[(rest.startIndex + 1)..<end])
      rest = rest[(end + 1)...]
    }
    return String(decoding: out, as: UTF8.self)
  }

  private static func entity(_ name: ArraySlice<UInt8>) throws(XMLFault) -> [UInt8] {
    let text = String(decoding: name, as: UTF8.self)
    switch text {
    case "lt": return [0x3C]
    case "gt": return [0x3E]
    case "amp": return [0x26]
    case "quot": return [0x22]
    case "apos": return [0x27]
    default: break
    }
    guard text.hasPrefix("#"), !text.contains("+"), !text.contains("-") else { throw .syntax }
    let number = text.hasPrefix("#x") ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text.dropFirst())
    guard let number, number != 0, let scalar = Unicode.Scalar(number) else { throw .syntax }
    return Array(String(Character(scalar)).utf8)
  }
}

extension XMLScanner {
  /// The namespace prefix of the element of the last ``Event/open(_:)``; empty if it has none.
  var prefix: ArraySlice<UInt8> {
    let name = openedTag.prefix { !Self.isBlank($0) }
    return name.firstIndex(of: 0x3A).map { name[..<$0] } ?? []
  }

  /// The attributes of the element of the last ``Event/open(_:)``, by their names with prefixes.
  func attributes() throws(XMLFault) -> [String: String] {
    var attributes: [String: String] = [:]
    var rest = openedTag.drop { !Self.isBlank($0) }
    while true {
      let blanks = rest.prefix(while: Self.isBlank).count
      rest = rest.dropFirst(blanks)
      if rest.isEmpty { return attributes }
      let (name, value) = try Self.attribute(&rest)
      guard blanks > 0, attributes.updateValue(value, forKey: name) == nil else { throw .syntax }
    }
  }

  private static func attribute(_ rest: inout ArraySlice<UInt8>) throws(XMLFault) -> (String, String) {
    let name = rest.prefix { !isBlank($0) && $0 != 0x3D }
    rest = rest.dropFirst(name.count).drop(while: isBlank)
    guard isName(name), rest.popFirst() == 0x3D else { throw .syntax }
    rest = rest.drop(while: isBlank)
    guard let quote = rest.popFirst(), quote == 0x22 || quote == 0x27, let end = rest.firstIndex(of: quote) else {
      throw .syntax
    }
    let value = rest[..<end]
    guard !value.contains(0x3C) else { throw .syntax }
    rest = rest[(end + 1)...]
    return (String(decoding: name, as: UTF8.self), try unescaped(value))
  }
}
