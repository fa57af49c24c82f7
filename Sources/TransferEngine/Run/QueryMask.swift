import TransferProtocols

/// Finds credentials in the URLs and parameters that a text quotes: signed URLs of any vendor, as ``CredentialQuery``
/// recognises them.
enum QueryMask {
  private static let longestName = 64

  /// What to show of the text that begins here, and how many of its bytes that replaces; nil if no credential begins
  /// here. `rest` is a suffix of `text`.
  static func masked(
    _ rest: ArraySlice<UInt8>, in text: [UInt8], _ marker: [UInt8]
  ) -> (shown: [UInt8], length: Int)? {
    guard let first = rest.first else { return nil }
    if first == 0x3F || first == 0x23 { return query(rest, marker) }
    guard isName(first), rest.startIndex == 0 || !isName(text[rest.startIndex - 1]) else { return nil }
    return parameter(rest, marker)
  }

  /// `?a=1&sig=…`, also after `#`.
  private static func query(_ rest: ArraySlice<UInt8>, _ marker: [UInt8]) -> (shown: [UInt8], length: Int)? {
    let query = rest.dropFirst().prefix { !endsQuery($0) }
    guard !query.isEmpty, CredentialQuery.isOne(query) else { return nil }
    let pairs = query.split(omittingEmptySubsequences: false) { isSeparator($0) }
    // Without a credential of its own, the time of expiry says that one of the others is.
    let isKnown = pairs.contains { isSecret($0) }
    var shown = [rest[rest.startIndex]]
    for pair in pairs {
      if pair.startIndex > query.startIndex { shown.append(rest[pair.startIndex - 1]) }
      let hides = isKnown ? isSecret(pair) : !isOpen(pair)
      shown += hides ? hidden(pair, marker) : Array(pair)
    }
    return (shown, query.count + 1)
  }

  /// `sig=…` outside of a query.
  private static func parameter(_ rest: ArraySlice<UInt8>, _ marker: [UInt8]) -> (shown: [UInt8], length: Int)? {
    let name = rest.prefix(longestName).prefix { isName($0) }
    let value = rest.dropFirst(name.count).dropFirst()
    guard rest.dropFirst(name.count).first == 0x3D, name.first != 0x2D, value.first.map({ !endsQuery($0) }) ?? false,
      CredentialQuery.isSecret(name: name)
    else { return nil }
    let length = value.prefix { !SecretMask.endsValue($0) }.count
    return (Array(name) + [0x3D] + marker, name.count + 1 + length)
  }

  private static func isSecret(_ pair: ArraySlice<UInt8>) -> Bool {
    guard let mark = pair.firstIndex(of: 0x3D) else { return CredentialQuery.isOne(pair) }
    return CredentialQuery.isSecret(name: name(pair[..<mark]), value: pair[(mark + 1)...])
  }

  private static func isOpen(_ pair: ArraySlice<UInt8>) -> Bool {
    guard let mark = pair.firstIndex(of: 0x3D) else { return true }
    return CredentialQuery.isOpen(name: name(pair[..<mark]))
  }

  /// JSON escapes the separator as `\u0026`.
  private static func name(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    bytes.starts(with: "u0026".utf8) ? bytes.dropFirst(5) : bytes
  }

  private static func hidden(_ pair: ArraySlice<UInt8>, _ marker: [UInt8]) -> [UInt8] {
    guard let mark = pair.firstIndex(of: 0x3D) else { return marker }
    return Array(pair[...mark]) + marker
  }

  private static func isSeparator(_ byte: UInt8) -> Bool { byte == 0x26 || byte == 0x3B || byte == 0x5C }

  private static func endsQuery(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == 0x22 || byte == 0x27 || byte == 0x3C || byte == 0x3E
  }

  private static func isName(_ byte: UInt8) -> Bool { TextPlaces.isWord(byte) || byte == 0x2D || byte == 0x25 }
}
