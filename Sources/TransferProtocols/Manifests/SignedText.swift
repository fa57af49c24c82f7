/// Removes the wrapper of an OpenPGP cleartext signature (RFC 9580 section 7) from the lines of a text. The signature
/// is not verified; text outside of the signed part is refused, because it would appear to be signed.
struct SignedText {
  static let beginning = "-----BEGIN PGP SIGNED MESSAGE-----"
  private static let signature = "-----BEGIN PGP SIGNATURE-----"
  private static let end = "-----END PGP SIGNATURE-----"

  private enum Part { case outside, fields, body, signature, behind }
  private var part = Part.outside
  private var hasText = false

  var isSigned: Bool { part != .outside }

  /// The line of the signed text; nil for a line of the wrapper.
  mutating func inner(_ line: UnsafeRawBufferPointer) throws(ManifestFault) -> UnsafeRawBufferPointer? {
    switch part {
    case .outside: return try outside(line)
    case .fields:
      if line.isEmpty { part = .body }
      return nil
    case .body: return body(line)
    case .signature:
      if line.elementsEqual(Self.end.utf8) { part = .behind }
      return nil
    case .behind:
      guard line.isEmpty else { throw Self.unsigned }
      return nil
    }
  }

  private mutating func outside(_ line: UnsafeRawBufferPointer) throws(ManifestFault) -> UnsafeRawBufferPointer? {
    if line.first == 0x2D, line.elementsEqual(Self.beginning.utf8) {
      guard !hasText else { throw Self.unsigned }
      part = .fields
      return nil
    }
    hasText = hasText || !line.isEmpty
    return line
  }

  private mutating func body(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard line.first == 0x2D else { return line }
    if line.elementsEqual(Self.signature.utf8) {
      part = .signature
      return nil
    }
    return line.starts(with: [0x2D, 0x20]) ? UnsafeRawBufferPointer(rebasing: line[2...]) : line
  }

  func checkEnd() throws(ManifestFault) {
    guard part == .outside || part == .behind else {
      throw ManifestFault("the signed text is cut off: its signature has no end", "fetch the manifest again")
    }
  }

  private static let unsigned = ManifestFault(
    "it is outside of the signed text", "take the line out if you trust the rest")
}
