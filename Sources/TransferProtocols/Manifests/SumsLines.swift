import TransferModel

/// Checksum files: `DIGEST  NAME` and `DIGEST *NAME` of GNU coreutils, with a leading backslash if names are escaped,
/// `DIGEST NAME` of BSD's `md5 -r`, `ALGORITHM (NAME) = DIGEST` of BSD and of OpenSSL, with `SIZE (NAME) = BYTES`.
///
/// Consecutive lines with the same name are one entry.
final class SumsLines: ManifestLines {
  private let foreign: String?
  private var signed = SignedText()
  private var pending: ManifestEntry?
  /// Names of unknown digests of the pending entry.
  private var unknown: [String] = []

  init(manifest: NameBytes) { foreign = Self.foreignName(manifest) }

  var isSigned: Bool { signed.isSigned }

  func entry(_ line: UnsafeRawBufferPointer, _ number: Int) throws(ManifestFault) -> ManifestEntry? {
    guard let text = try signed.inner(line), !Self.saysNothing(text) else { return nil }
    let sum = try SumsLine(text, foreign: foreign)
    if pending?.path == sum.name {
      try add(sum.fact)
      return nil
    }
    let done = try last(checksEnd: false)
    pending = ManifestEntry(location: .relative(sum.name), path: sum.name, line: number)
    try add(sum.fact)
    return done
  }

  func last() throws(ManifestFault) -> ManifestEntry? { try last(checksEnd: true) }

  private func last(checksEnd: Bool) throws(ManifestFault) -> ManifestEntry? {
    if checksEnd { try signed.checkEnd() }
    guard let done = pending else { return nil }
    guard !done.digests.isEmpty || unknown.isEmpty else {
      let names = unknown.joined(separator: ", ")
      throw ManifestFault(
        "\(ManifestFault.shown(done.path.bytes)) has only digests that are not known here (\(names))",
        "use a manifest with SHA-256 or SHA-512, or take the line out", line: done.line)
    }
    (pending, unknown) = (nil, [])
    return done
  }

  private func add(_ fact: SumsLine.Fact) throws(ManifestFault) {
    switch fact {
    case .digest(let digest): try ManifestDigest.add(digest, to: &pending!.digests)
    case .unknown(let name): if unknown.count < 8 { unknown.append(name) }
    case .size(let size):
      guard pending?.size == nil || pending?.size == size else {
        throw ManifestFault("\(ManifestFault.shown(pending!.path.bytes)) has two different sizes", "keep the right one")
      }
      pending?.size = size
    }
  }

  /// Comments, empty lines, and the timestamp of a BSD distinfo file.
  private static func saysNothing(_ line: UnsafeRawBufferPointer) -> Bool {
    guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 }), line.first != 0x23 else { return true }
    return first == 0x54 && line.starts(with: "TIMESTAMP = ".utf8)
  }

  /// Whether the line can be part of such a file.
  static func isLine(_ line: UnsafeRawBufferPointer) -> Bool {
    (try? SumsLine(line, foreign: nil)) != nil || line.starts(with: "TIMESTAMP = ".utf8)
  }

  // MARK: - Names of such files

  /// Digests that such files are named after. Those with a second name are unknown, and have the length of a known
  /// digest.
  private static let digestNames: [(name: String, foreign: String?)] = [
    ("md5", nil), ("sha1", nil), ("sha224", nil), ("sha256", nil), ("sha384", nil), ("sha512", nil),
    ("b2", "BLAKE2"), ("blake2", "BLAKE2"), ("blake2b", "BLAKE2"), ("blake2s", "BLAKE2"), ("b3", "BLAKE3"),
    ("blake3", "BLAKE3"), ("sha3", "SHA-3"), ("sha3-256", "SHA-3"), ("sha3-512", "SHA-3"),
  ]

  /// Whether a component of a file name marks such a file: `sha256`, `SHA256SUMS`, `x_md5sum`, `checksums`.
  static func isName(_ component: some StringProtocol) -> Bool {
    let word = component.lowercased()
    let plain = withoutSum(word)
    if plain.utf8.count < word.utf8.count, plain.isEmpty || plain.hasSuffix("check") { return true }
    return digestName(plain) != nil
  }

  private static func foreignName(_ manifest: NameBytes) -> String? {
    let words = String(decoding: manifest.lastComponent.bytes, as: UTF8.self).lowercased().split(separator: ".")
    return words.lazy.compactMap { digestName(withoutSum(String($0)))?.foreign }.first
  }

  private static func withoutSum(_ word: String) -> String {
    let ending = ["sums", "sum"].first { word.hasSuffix($0) } ?? ""
    let plain = word.dropLast(ending.count)
    return String(plain.last == "-" || plain.last == "_" ? plain.dropLast() : plain)
  }

  /// The digest that the word equals, or that it ends with after a `-` or `_`.
  private static func digestName(_ word: String) -> (name: String, foreign: String?)? {
    digestNames.first { word == $0.name || word.hasSuffix("_" + $0.name) || word.hasSuffix("-" + $0.name) }
  }
}
