import TransferModel

/// One `file` element of a Metalink document while it is parsed.
struct MetalinkFile {
  /// The `type` of the current `hash` element.
  var hashName: String?
  private let line: Int
  private let path: NameBytes
  private var size: Int64?
  private var digests: [Digest] = []
  private var urls: [ManifestURL] = []
  private var hasURL = false
  /// The attributes of the current `url` element.
  private var opened = ManifestURL("")
  private var pieces: PieceDigests?
  private var openPieces: OpenPieces?

  private struct OpenPieces {
    let algorithm: DigestAlgorithm
    let length: Int64
    var bytes: [UInt8] = []
  }

  init(_ attributes: [String: String], line: Int) throws(ManifestFault) {
    guard let name = attributes["name"] else { throw ManifestFault("a file has no name", "give it the attribute name") }
    path = try Self.withBytes(name.utf8) { bytes throws(ManifestFault) in try ManifestPath.read(bytes) }
    self.line = line
  }

  mutating func set(size text: Substring.UTF8View) throws(ManifestFault) {
    guard size == nil else { throw fault("has two sizes", "keep the right one") }
    size = try ManifestPlaces.size(Array(text))
  }

  mutating func beginURL(_ attributes: [String: String]) throws(ManifestFault) {
    var priority = ManifestURL.lowestPriority
    if let text = attributes["priority"] {
      guard text.utf8.count <= 6, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
        number > 0
      else {
        throw fault("has a URL with a priority that is not a number from 1 to 999999", "correct the priority")
      }
      priority = number
    }
    let country = attributes["location"]?.lowercased()
    let isCode = country?.utf8.count == 2 && country?.utf8.allSatisfy { (0x61...0x7A).contains($0) } == true
    opened = ManifestURL("", priority: priority, country: isCode ? country : nil)
  }

  /// URLs with unsupported schemes (ftp, rsync) are ignored if others remain.
  mutating func endURL(_ text: Substring.UTF8View) throws(ManifestFault) {
    hasURL = true
    var url = opened
    let known: String? = try Self.withBytes(text) { bytes throws(ManifestFault) in
      guard !ManifestURLReader.isAbsolute(bytes) || ManifestURLReader.hasKnownScheme(bytes) else { return nil }
      var reader = ManifestURLReader()
      return try reader.read(bytes)
    }
    guard let known, !urls.contains(where: { $0.text == known }) else { return }
    url.text = known
    urls.append(url)
  }

  /// Unknown algorithms are ignored.
  mutating func addHash(_ text: Substring.UTF8View) throws(ManifestFault) {
    guard let name = hashName else { throw fault("has a hash without a type", "give it the attribute type") }
    guard let algorithm = ManifestDigest.algorithm(named: name.utf8) else { return }
    try ManifestDigest.add(try Self.digest(algorithm, text), to: &digests)
  }

  // MARK: - Pieces

  mutating func beginPieces(_ attributes: [String: String]) throws(ManifestFault) {
    let length = try ManifestPlaces.size(Array((attributes["length"] ?? "").utf8))
    guard length > 0 else { throw fault("has pieces without a length", "correct the length of the pieces") }
    openPieces = ManifestDigest.algorithm(named: (attributes["type"] ?? "").utf8).map {
      OpenPieces(algorithm: $0, length: length)
    }
  }

  mutating func addPiece(_ text: Substring.UTF8View) throws(ManifestFault) {
    guard let algorithm = openPieces?.algorithm else { return }
    openPieces?.bytes += try Self.digest(algorithm, text).bytes
  }

  /// If there are several lists, the strongest is kept.
  mutating func endPieces() {
    guard let done = openPieces else { return }
    openPieces = nil
    let isStronger = pieces.map {
      ManifestDigest.strength($0.algorithm) < ManifestDigest.strength(done.algorithm)
    }
    if isStronger ?? true { pieces = PieceDigests(done.algorithm, length: done.length, bytes: done.bytes) }
  }

  // MARK: - The entry

  func entry() throws(ManifestFault) -> ManifestEntry {
    guard !urls.isEmpty else {
      let cause = hasURL ? "has no URL of a scheme that is fetched" : "has no URL"
      throw fault(cause, "ask the publisher for an https mirror")
    }
    if let pieces { try NamedPieces.check(pieces, size: size, of: ManifestFault.shown(path.bytes)) }
    // Stable: among URLs of equal priority the order of the document counts.
    let ordered = urls.enumerated().sorted { ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset) }
    return ManifestEntry(
      location: .urls(ordered.map(\.element)), path: path, size: size, digests: digests, pieces: pieces, line: line)
  }

  private func fault(_ what: String, _ remedy: String) -> ManifestFault {
    ManifestFault("\(ManifestFault.shown(path.bytes)) \(what)", remedy)
  }

  private static func digest(
    _ algorithm: DigestAlgorithm, _ text: Substring.UTF8View
  ) throws(ManifestFault) -> Digest {
    let digest = try withBytes(text) { bytes throws(ManifestFault) in ManifestDigest.value(algorithm, bytes) }
    guard let digest else { throw ManifestDigest.wrongValue(algorithm) }
    return digest
  }

  private static func withBytes<R>(
    _ text: some Sequence<UInt8>, _ body: (UnsafeRawBufferPointer) throws(ManifestFault) -> R
  ) throws(ManifestFault) -> R {
    try Array(text).withUnsafeBufferPointer { buffer throws(ManifestFault) in try body(UnsafeRawBufferPointer(buffer)) }
  }
}
