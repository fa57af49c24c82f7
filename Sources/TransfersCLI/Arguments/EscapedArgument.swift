import ArgumentParser
import TransferModel
import Transfers

/// Preserves the bytes of command-line arguments. Names are bytes, but the parser works on `String`: see
/// ``NameBytes/embedded``.
enum EscapedArgument {
  /// The arguments of this process without its name.
  static func ofProcess() -> [String] { ProcessArguments.bytes.map(encode) }

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
