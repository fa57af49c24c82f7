import ArgumentParser
import TransferModel

/// Preserves the bytes of command-line arguments. Names are bytes, but the parser works on `String`: see
/// ``NameBytes/embedded``.
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

  static func encode(_ bytes: [UInt8]) -> String { NameBytes(bytes).embedded }

  static func decode(_ text: String) -> [UInt8] { NameBytes(embedded: text).bytes }

  /// Safe to print.
  static func shown(_ text: String) -> String { NameBytes(decode(text)).description }

  /// Whether the argument holds bytes that are not UTF-8.
  static func isEscaped(_ text: String) -> Bool {
    text.unicodeScalars.contains { NameBytes.embeddedBytes.contains($0.value) }
  }
}

extension NameBytes: ExpressibleByArgument {
  public init?(argument: String) { self.init(EscapedArgument.decode(argument)) }
}
