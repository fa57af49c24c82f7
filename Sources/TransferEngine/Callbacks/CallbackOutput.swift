import TransferModel
import TransferProtocols

/// The answer of a receiver in a form that may be stored.
package enum CallbackOutput {
  /// Shorter parts of a URL occur by chance in too many answers.
  private static let shortest = 6

  /// Masks what a program has printed. Of `others`, which may be anything, those stay that are as short as ordinary
  /// words, and paths: the output would be meaningless without them.
  package static func masked(_ output: [UInt8], _ secrets: [String], others: [String]) -> [UInt8] {
    let long = others.filter { $0.utf8.count >= SecretMask.shortest && !$0.hasPrefix("/") }
    return masked(output, hiding: secrets + secrets.flatMap(parts(ofURL:)) + long, urls: [])
  }

  /// Masks these secrets, in any encoding, of a secret that is a URL also its parts: receivers quote the path without
  /// its query, or single values. Of `urls`, which may be public, it masks the path with its query and what is long
  /// enough to be a token.
  package static func masked(_ output: [UInt8], _ secrets: [String], urls: [String] = []) -> [UInt8] {
    masked(output, hiding: secrets + secrets.flatMap(parts(ofURL:)), urls: urls)
  }

  private static func masked(_ output: [UInt8], hiding hidden: [String], urls: [String]) -> [UInt8] {
    let named = hidden.enumerated().map { ("\($0.offset)", $0.element) }
    return SecretMask(.inputs(Dictionary(uniqueKeysWithValues: named)), capabilities: urls).applied(toExcerpt: output)
  }

  /// User and password, path, query and fragment, and the components and values in them, also decoded.
  private static func parts(ofURL text: String) -> [String] {
    guard let mark = text.firstRange(of: "://") else { return [] }
    let rest = text[mark.upperBound...]
    let authority = rest.prefix { !"/?#".contains($0) }
    let target = rest[authority.endIndex...]
    var parts = authority.split(separator: "@").dropLast().flatMap { [$0] + $0.split(separator: ":") }
    let whole = target.prefix { $0 != "#" }
    let path = target.prefix { $0 != "?" && $0 != "#" }
    parts += [whole, path, path.dropFirst(), whole.dropFirst(path.count + 1), target.dropFirst(whole.count + 1)]
    parts += path.split(separator: "/")
    for pair in target.dropFirst(path.count).split(whereSeparator: { "?&;#".contains($0) }) {
      parts += pair.split(separator: "=", maxSplits: 1).suffix(1)
    }
    return Set(parts.map(String.init).flatMap { [$0, decoded($0)] }).filter { $0.utf8.count >= shortest }.sorted()
  }

  /// The text with its percent-encoded bytes decoded.
  private static func decoded(_ text: String) -> String {
    var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
    while let first = rest.popFirst() {
      guard first == 0x25, rest.count >= 2,
        let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else {
        bytes.append(first)
        continue
      }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
