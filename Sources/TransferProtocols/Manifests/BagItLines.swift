import TransferModel

/// The two lists of a bag (RFC 8493): `fetch.txt` (`URL LENGTH PATH`), and `manifest-ALGORITHM.txt` (`DIGEST PATH`),
/// whose paths are relative to a base. The name of the file tells which one it is.
final class BagItLines: ManifestLines {
  /// The algorithm of a `manifest-ALGORITHM.txt`; nil for `fetch.txt`.
  private let algorithmName: String?
  private var urls = ManifestURLReader()

  init(manifest: NameBytes) { algorithmName = Self.algorithmName(ofManifest: manifest) }

  func entry(_ line: UnsafeRawBufferPointer, _ number: Int) throws(ManifestFault) -> ManifestEntry? {
    guard line.contains(where: { !Self.isBlank($0) }) else { return nil }
    var rest = line[...]
    if let algorithmName {
      let (digest, path) = (try digest(Self.word(&rest), algorithmName), try Self.path(rest))
      return ManifestEntry(location: .relative(path), path: path, digests: [digest], line: number)
    }
    let (url, length) = (Self.word(&rest), Self.word(&rest))
    guard !length.isEmpty, !rest.isEmpty else {
      throw ManifestFault("it is not \"URL LENGTH PATH\"", "write \"-\" for a length that is not known")
    }
    let size = length.elementsEqual([0x2D]) ? nil : try ManifestPlaces.size(length)
    let (text, path) = (try urls.read(url), try Self.path(rest))
    return ManifestEntry(location: .urls([ManifestURL(text)]), path: path, size: size, line: number)
  }

  func last() throws(ManifestFault) -> ManifestEntry? { nil }

  private func digest(_ text: UnsafeRawBufferPointer, _ name: String) throws(ManifestFault) -> Digest {
    guard let algorithm = ManifestDigest.algorithm(named: name.utf8) else {
      throw ManifestFault(
        "digests of \(ManifestFault.shown(name.utf8)) are not known here", "use the bag's manifest of another algorithm"
      )
    }
    guard let digest = ManifestDigest.value(algorithm, text) else { throw ManifestDigest.wrongValue(algorithm) }
    return digest
  }

  /// The text up to the next blanks, which are removed too.
  private static func word(_ rest: inout Slice<UnsafeRawBufferPointer>) -> UnsafeRawBufferPointer {
    let word = rest.prefix { !isBlank($0) }
    rest = rest[word.endIndex...].drop(while: isBlank)
    return UnsafeRawBufferPointer(rebasing: word)
  }

  /// Only line ends and the percent sign are encoded (section 2.1.3).
  private static func path(_ text: Slice<UnsafeRawBufferPointer>) throws(ManifestFault) -> NameBytes {
    let path = try decoded(text).withUnsafeBufferPointer { bytes throws(ManifestFault) in
      try ManifestPath.read(UnsafeRawBufferPointer(bytes), hasEscapedLineEnds: true)
    }
    guard path.bytes.starts(with: "data/".utf8) else {
      throw ManifestFault(
        "\(ManifestFault.shown(path.bytes)) is not below \"data/\", where the files of a bag are", "correct the path")
    }
    return path
  }

  private static func decoded(_ text: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
    guard text.contains(0x25) else { return Array(text) }
    var out: [UInt8] = []
    var rest = text
    while let byte = rest.first {
      let code = byte == 0x25 ? rest.prefix(3).dropFirst().map { $0 | (0x41...0x5A ~= $0 ? 0x20 : 0) } : []
      switch code {
      case [0x30, 0x61]: out.append(0x0A)
      case [0x30, 0x64]: out.append(0x0D)
      case [0x32, 0x35]: out.append(0x25)
      default:
        out.append(byte)
        rest = rest.dropFirst()
        continue
      }
      rest = rest.dropFirst(3)
    }
    return out
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// `sha256` for `manifest-sha256.txt`, in any folder; nil for any other name, including those of tag manifests.
  static func algorithmName(ofManifest name: NameBytes) -> String? {
    let text = String(decoding: name.lastComponent.bytes, as: UTF8.self).lowercased()
    guard text.hasPrefix("manifest-"), text.hasSuffix(".txt"), text.utf8.count > 13 else { return nil }
    return String(text.dropFirst(9).dropLast(4))
  }
}
