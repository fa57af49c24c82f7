public import TransferModel

/// The format of a manifest.
public enum ManifestFormat: String, Sendable, CaseIterable {
  /// Checksum files of md5sum, sha256sum and similar programs, with or without an enclosing OpenPGP signature.
  case sums
  /// Metalink 4 (RFC 5854).
  case metalink
  /// `fetch.txt` or `manifest-ALGORITHM.txt` of a bag (RFC 8493); both together: ``BagIt``.
  case bagit
  /// A table with a header (RFC 4180), its columns separated by commas or tabs.
  case csv
  /// One JSON object per line.
  case jsonl
  /// One URL or relative path per line, optionally followed by a tab and a target path.
  case list

  /// Number of bytes at the start that ``init(name:front:)`` uses.
  public static let frontSize = 64 << 10

  /// Detects the format. The name decides if it is conclusive: `fetch.txt`, `manifest-*.txt`; the extensions `.meta4`,
  /// `.metalink`, `.csv`, `.tsv`, `.jsonl`, `.ndjson`; a checksum file has the name of a digest (`SHA256SUMS`,
  /// `x_md5sum`, `SHA256`, `x.iso.sha256`) or `checksums`, also before `.txt`, `.asc` or `.gpg`.
  ///
  /// Otherwise the first line decides that is neither empty nor begins with `#`: `<` is Metalink, `{` is JSON lines, a
  /// line of a checksum file or the beginning of a signed text is a checksum file; two or more columns without a slash,
  /// one of them named `url` or `path`, are the header of a table. Everything else is a list.
  public init(name: NameBytes, front: [UInt8]) {
    self = Self.byName(Array(name.lastComponent.bytes.map(Self.lowered))) ?? Self.byContent(front)
  }

  /// The format of a list of files to upload; nil for a plain list of names. JSON lines and tables are recognised by
  /// the extension, checksum files by the name and the first line, and manifests of ``ManifestWriter`` by their first
  /// record. Nothing else in the content matters, because the names in a plain list are literal.
  public init?(ofUploads name: NameBytes, front: [UInt8]) {
    switch Self.byName(Array(name.lastComponent.bytes.map(Self.lowered))) {
    case .csv?: self = .csv
    case .jsonl?: self = .jsonl
    case .sums? where Self.byContent(front) == .sums: self = .sums
    default:
      guard front.starts(with: ManifestFrame.beginning.utf8) else { return nil }
      self = .jsonl
    }
  }

  private static func byName(_ name: [UInt8]) -> ManifestFormat? {
    let text = String(decoding: name, as: UTF8.self)
    if text == "fetch.txt" || BagItLines.algorithmName(ofManifest: NameBytes(name)) != nil { return .bagit }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    switch parts.last {
    case "meta4", "metalink": return .metalink
    case "csv", "tsv": return .csv
    case "jsonl", "ndjson": return .jsonl
    default: break
    }
    let plain = parts.count > 1 && ["txt", "asc", "gpg"].contains(parts.last) ? parts.dropLast() : parts[...]
    return plain.last.map { SumsLines.isName($0) } == true ? .sums : nil
  }

  private static func byContent(_ front: [UInt8]) -> ManifestFormat {
    let text = front.starts(with: [0xEF, 0xBB, 0xBF]) ? front[3...] : front[...]
    for line in text.prefix(frontSize).split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 }), first != 0x23 else { continue }
      if first == 0x3C { return .metalink }
      if first == 0x7B { return .jsonl }
      if isSums(line) { return .sums }
      return isHeader(line) ? .csv : .list
    }
    return .list
  }

  private static func isSums(_ line: ArraySlice<UInt8>) -> Bool {
    if line.starts(with: SignedText.beginning.utf8) { return true }
    return line.withUnsafeBufferPointer { SumsLines.isLine(UnsafeRawBufferPointer($0)) }
  }

  private static func isHeader(_ line: ArraySlice<UInt8>) -> Bool {
    let separator: UInt8 = line.contains(0x09) ? 0x09 : 0x2C
    let columns = line.split(separator: separator, omittingEmptySubsequences: false).map { column in
      String(decoding: column.filter { $0 != 0x22 && $0 != 0x20 }.map(lowered), as: UTF8.self)
    }
    return columns.count > 1 && columns.contains { $0 == "url" || $0 == "path" } && !line.contains(0x2F)
  }

  private static func lowered(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
