import TransferModel

/// Digests of the pieces of a file as one text: `sha256:LENGTH:BASE64`, with the length of a piece in bytes and the
/// concatenated digests.
enum NamedPieces {
  private static let form = ManifestFault(
    "its pieces cannot be read", "write sha256:LENGTH:BASE64, with all digests one after the other")

  /// As the largest size of a file (RFC 8259 section 6).
  private static let longestPiece: Int64 = 1 << 53

  static func text(_ pieces: PieceDigests) -> String {
    "\(pieces.algorithm.rawValue):\(pieces.length):\(base64(pieces.bytes))"
  }

  /// - Throws: the error; also if `size` requires more or fewer digests.
  static func read(_ text: some Sequence<UInt8>, size: Int64?) throws(ManifestFault) -> PieceDigests {
    let parts = String(decoding: Array(text), as: UTF8.self).split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let algorithm = ManifestDigest.algorithm(named: parts[0].utf8),
      let length = Int64(parts[1]), (1...longestPiece).contains(length),
      let bytes = bytesFromBase64(String(parts[2])),
      bytes.count % algorithm.byteCount == 0
    else { throw form }
    let pieces = PieceDigests(algorithm, length: length, bytes: bytes)
    try check(pieces, size: size)
    return pieces
  }

  /// - Parameter file: the name of the file for error messages.
  static func check(_ pieces: PieceDigests, size: Int64?, of file: String = "it") throws(ManifestFault) {
    guard let size else { throw ManifestFault("\(file) has pieces and no size", "add the size") }
    let needed = size.dividedUp(by: pieces.length)
    guard Int64(pieces.count) == needed else {
      throw ManifestFault(
        "\(file) has hashes of \(pieces.count) pieces, and \(needed) pieces", "fetch the manifest again")
    }
  }
}

/// Times in manifests.
enum ManifestTime {
  /// RFC 3339 in UTC with nanoseconds.
  static func text(_ ns: Int64) -> String {
    let seconds = ns.floored(by: 1_000_000_000)
    let rest = String(ns - seconds * 1_000_000_000)
    let text = CivilTime(wallMs: seconds * 1_000).rfc3339.dropLast()
    return "\(text).\(String(repeating: "0", count: 9 - rest.count))\(rest)Z"
  }

  /// Parses RFC 3339 into nanoseconds since 1970 UTC; nil for any other form. A time in another form is ignored, not
  /// an error: no transfer depends on it.
  static func ns(_ bytes: some Collection<UInt8>) -> Int64? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let ms = CivilTime.wallMs(rfc3339: text) else { return nil }
    var fraction: Int64 = 0
    if let point = text.firstIndex(of: ".") {
      let digits = text[text.index(after: point)...].prefix { $0.isASCII && $0.isWholeNumber }.prefix(9)
      fraction = Int64(digits + String(repeating: "0", count: 9 - digits.count)) ?? 0
    }
    let (whole, isTooFar) = ms.floored(by: 1_000).multipliedReportingOverflow(by: 1_000_000_000)
    let (ns, isBehindTheLast) = whole.addingReportingOverflow(fraction)
    return isTooFar || isBehindTheLast ? nil : ns
  }
}
