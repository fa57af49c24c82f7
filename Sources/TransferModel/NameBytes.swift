/// A file name, path or remote key: bytes, as the kernel and S3 see it. Never assume UTF-8.
public struct NameBytes: Hashable, Sendable, Comparable {
  public var bytes: [UInt8]

  public init(_ bytes: [UInt8]) { self.bytes = bytes }
  public init(_ text: String) { bytes = Array(text.utf8) }

  public static func < (a: NameBytes, b: NameBytes) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }

  public var isEmpty: Bool { bytes.isEmpty }

  /// The exact text when the bytes are valid UTF-8, else nil.
  public var utf8: String? { String(validating: bytes, as: UTF8.self) }

  /// A remote key that stands for a folder with everything below it.
  public var isFolder: Bool { bytes.isEmpty || bytes.last == 0x2F }

  /// The bytes after the last slash; all of them when there is none.
  public var lastComponent: NameBytes {
    guard let slash = bytes.lastIndex(of: 0x2F) else { return self }
    return NameBytes(Array(bytes[(slash + 1)...]))
  }

  /// The name in lower case, which is the same for all names that differ only in case. Unchanged if it is not UTF-8.
  public var caseFolded: NameBytes { utf8.map { NameBytes($0.lowercased()) } ?? self }

  /// Joins with exactly one slash between the parts; an empty part adds nothing.
  public func appending(_ other: NameBytes) -> NameBytes {
    if isEmpty { return other }
    if other.isEmpty { return self }
    return NameBytes(bytes + (bytes.last == 0x2F ? [] : [0x2F]) + other.bytes)
  }
}

extension NameBytes: CustomStringConvertible {
  /// Safe to print anywhere: control characters, bidirectional controls, line separators, ambiguous backslashes and
  /// bytes that are not UTF-8 are shown as `\xNN`, so that a hostile name can neither control a terminal nor forge a
  /// line.
  public var description: String { Self.escaped(bytes) }

  private static func escaped(_ bytes: [UInt8]) -> String {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var next = 0
    while next < bytes.count {
      let byte = bytes[next]
      // A fast path: most text is printable ASCII, and values may have megabytes of it.
      if (0x20..<0x7F).contains(byte), byte != 0x5C {
        out.append(byte)
        next += 1
        continue
      }
      let (scalar, width) = firstScalar(bytes[next...])
      if let scalar, isPrintable(scalar) {
        out += bytes[next..<next + width]
      } else {
        for byte in bytes[next..<next + width] { appendEscape(of: byte, to: &out) }
      }
      next += width
    }
    return String(decoding: out, as: UTF8.self)
  }

  private static func firstScalar(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar?, Int) {
    var decoder = UTF8()
    var iterator = bytes.prefix(4).makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return (nil, 1) }
    return (scalar, UTF8.width(scalar))
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x5C: return false
    case 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xE0000...0xE0FFF: return false
    default: return true
    }
  }

  private static let digits = Array("0123456789abcdef".utf8)

  /// `\\` or `\xNN`.
  private static func appendEscape(of byte: UInt8, to out: inout [UInt8]) {
    out.append(0x5C)
    if byte == 0x5C { return out.append(0x5C) }
    out.append(0x78)
    out.append(digits[Int(byte >> 4)])
    out.append(digits[Int(byte & 15)])
  }
}

extension NameBytes {
  /// A text that keeps all bytes: those that are not UTF-8 travel as scalars U+10FF80 … U+10FFFF (byte + U+10FF00), and
  /// so do the bytes of real scalars of that range, which makes the mapping exact in both directions (the idea of
  /// Python's PEP 383). For texts that are escaped as a whole, by ``printable(_:)``.
  public var embedded: String {
    var out = String.UnicodeScalarView()
    var rest = bytes[...]
    while !rest.isEmpty {
      let (scalar, width) = Self.firstScalar(rest)
      if let scalar, !Self.embeddedBytes.contains(scalar.value) {
        out.append(scalar)
      } else {
        for byte in rest.prefix(width) { out.append(Unicode.Scalar(0x10FF00 + UInt32(byte)) ?? "\u{FFFD}") }
      }
      rest = rest.dropFirst(width)
    }
    return String(out)
  }

  /// The bytes of an ``embedded`` text.
  public init(embedded text: String) {
    // In UTF-8, only scalars from U+100000 on begin with this byte.
    guard text.utf8.contains(0xF4) else {
      bytes = Array(text.utf8)
      return
    }
    bytes = []
    for scalar in text.unicodeScalars {
      if Self.embeddedBytes.contains(scalar.value) {
        bytes.append(UInt8(truncatingIfNeeded: scalar.value))
      } else {
        bytes += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
  }

  /// Scalars that stand for one byte each.
  package static let embeddedBytes: ClosedRange<UInt32> = 0x10FF80...0x10FFFF
}

/// Makes text from servers, disks and users safe for one line of a terminal or a log; see ``NameBytes/description``.
/// Names in it may be ``NameBytes/embedded``.
package func printable(_ text: String) -> String { NameBytes(embedded: text).description }
