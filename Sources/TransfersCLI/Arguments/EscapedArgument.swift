import ArgumentParser
import TransferModel

/// A command-line argument whose bytes survive. Names are bytes, but the parser works on `String`: bytes that are not
/// UTF-8 travel as scalars U+10FF80 … U+10FFFF (byte + U+10FF00), and so do the bytes of real scalars of that range, which
/// makes the mapping exact in both directions (the idea of Python's PEP 383).
enum EscapedArgument {
  /// The arguments of this process without its name.
  static func ofProcess() -> [String] {
    (1..<max(Int(CommandLine.argc), 1)).map { index in
      guard let start = CommandLine.unsafeArgv[index] else { return "" }
      var bytes: [UInt8] = []
      var cursor = start
      while cursor.pointee != 0 {
        bytes.append(UInt8(bitPattern: cursor.pointee))
        cursor += 1
      }
      return encode(bytes)
    }
  }

  static func encode(_ bytes: [UInt8]) -> String {
    var out = String.UnicodeScalarView()
    var rest = bytes[...]
    while !rest.isEmpty {
      let (scalar, width) = firstScalar(rest)
      if let scalar, !escapes.contains(scalar.value) {
        out.append(scalar)
      } else {
        for byte in rest.prefix(width) { out.append(escape(byte)) }
      }
      rest = rest.dropFirst(width)
    }
    return String(out)
  }

  static func decode(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if escapes.contains(scalar.value) {
        bytes.append(UInt8(truncatingIfNeeded: scalar.value))
      } else {
        bytes += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
    return bytes
  }

  /// Safe to print.
  static func shown(_ text: String) -> String { NameBytes(decode(text)).description }

  /// Whether the argument holds bytes that are not UTF-8.
  static func isEscaped(_ text: String) -> Bool { text.unicodeScalars.contains { escapes.contains($0.value) } }

  private static func firstScalar(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar?, Int) {
    var decoder = UTF8()
    var iterator = bytes.prefix(4).makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return (nil, 1) }
    return (scalar, UTF8.width(scalar))
  }

  private static let escapes: ClosedRange<UInt32> = 0x10FF80...0x10FFFF

  private static func escape(_ byte: UInt8) -> Unicode.Scalar {
    Unicode.Scalar(0x10FF00 + UInt32(byte)) ?? "\u{FFFD}"
  }
}

extension NameBytes: ExpressibleByArgument {
  public init?(argument: String) { self.init(EscapedArgument.decode(argument)) }
}
