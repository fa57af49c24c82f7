import TransferModel

/// One line of a checksum file.
struct SumsLine {
  enum Fact {
    case digest(Digest)
    case size(Int64)
    /// A digest of an unknown algorithm, by its name.
    case unknown(String)
  }

  let name: NameBytes
  let fact: Fact

  private static let form = ManifestFault(
    "it is neither \"DIGEST  NAME\" nor \"ALGORITHM (NAME) = DIGEST\"", "correct the line, or say the format")

  /// `foreign` names the algorithm if the file is known to use an unsupported one.
  init(_ line: UnsafeRawBufferPointer, foreign: String?) throws(ManifestFault) {
    let isEscaped = line.first == 0x5C
    let text = UnsafeRawBufferPointer(rebasing: isEscaped ? line[1...] : line[...])
    let digits = text.prefix { ManifestDigest.nibble($0) < 16 }.count
    if digits >= 8, digits < text.count, text[digits] == 0x20 {
      (name, fact) = try Self.plain(text, digits, isEscaped, foreign)
    } else {
      (name, fact) = try Self.tagged(text, isEscaped)
    }
  }

  /// `DIGEST  NAME`; the second blank is an asterisk for a file that was read as binary, and missing in BSD's form.
  private static func plain(
    _ text: UnsafeRawBufferPointer, _ digits: Int, _ isEscaped: Bool, _ foreign: String?
  ) throws(ManifestFault) -> (NameBytes, Fact) {
    let remedy = "use a manifest with SHA-256 or SHA-512"
    if let foreign { throw ManifestFault("digests of \(foreign) are not known here", remedy) }
    guard let algorithm = algorithm(digits: digits),
      let digest = ManifestDigest.value(algorithm, UnsafeRawBufferPointer(rebasing: text[..<digits]))
    else { throw ManifestFault("no digest that is known here has \(digits) hexadecimal digits", remedy) }
    var name = text[(digits + 1)...]
    if name.first == 0x20 || name.first == 0x2A { name = name.dropFirst() }
    return (try read(name, isEscaped), .digest(digest))
  }

  private static func algorithm(digits: Int) -> DigestAlgorithm? {
    switch digits {
    case 32: .md5
    case 40: .sha1
    case 64: .sha256
    case 128: .sha512
    default: nil
    }
  }

  /// `ALGORITHM (NAME) = DIGEST`, and `ALGORITHM(NAME)= DIGEST` of OpenSSL.
  private static func tagged(
    _ text: UnsafeRawBufferPointer, _ isEscaped: Bool
  ) throws(ManifestFault) -> (NameBytes, Fact) {
    guard let open = text.firstIndex(of: 0x28), let close = text.lastIndex(of: 0x29), open < close else { throw form }
    var tag = text[..<open]
    if tag.last == 0x20 { tag = tag.dropLast() }
    var value = text[(close + 1)...]
    if value.first == 0x20 { value = value.dropFirst() }
    guard (1...24).contains(tag.count), tag.allSatisfy(isTag), value.starts(with: [0x3D, 0x20]) else { throw form }
    let name = try read(text[(open + 1)..<close], isEscaped)
    return (name, try fact(tag, UnsafeRawBufferPointer(rebasing: value.dropFirst(2))))
  }

  private static func fact(
    _ tag: Slice<UnsafeRawBufferPointer>, _ value: UnsafeRawBufferPointer
  ) throws(ManifestFault) -> Fact {
    let text = String(decoding: tag, as: UTF8.self)
    if text.uppercased() == "SIZE" {
      let isWord = value.count > 6 && value[(value.count - 6)...].elementsEqual(" bytes".utf8)
      return .size(try ManifestPlaces.size(value.dropLast(isWord ? 6 : 0)))
    }
    guard let algorithm = ManifestDigest.algorithm(named: tag) else { return .unknown(text) }
    guard let digest = ManifestDigest.value(algorithm, value) else { throw ManifestDigest.wrongValue(algorithm) }
    return .digest(digest)
  }

  private static func isTag(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2F, 0x5F: true
    default: false
    }
  }

  private static func read(
    _ name: Slice<UnsafeRawBufferPointer>, _ isEscaped: Bool
  ) throws(ManifestFault) -> NameBytes {
    guard isEscaped else { return try ManifestPath.read(UnsafeRawBufferPointer(rebasing: name)) }
    return try unescaped(name).withUnsafeBufferPointer { bytes throws(ManifestFault) in
      try ManifestPath.read(UnsafeRawBufferPointer(bytes), hasEscapedLineEnds: true)
    }
  }

  /// The escapes of GNU coreutils, which are used in lines that begin with a backslash.
  private static func unescaped(_ name: Slice<UnsafeRawBufferPointer>) throws(ManifestFault) -> [UInt8] {
    var out: [UInt8] = []
    var bytes = name.makeIterator()
    while let byte = bytes.next() {
      guard byte == 0x5C else {
        out.append(byte)
        continue
      }
      switch bytes.next() {
      case 0x5C: out.append(0x5C)
      case 0x6E: out.append(0x0A)
      case 0x72: out.append(0x0D)
      default:
        throw ManifestFault(
          "\(ManifestFault.shown(name)) has a backslash that escapes nothing", "write \\\\, \\n or \\r")
      }
    }
    return out
  }
}
