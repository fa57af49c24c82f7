import TransferModel

/// Why a `.zsync` file is not used, as the end of a sentence. Contains nothing from the file.
struct ZsyncFault: Error, Hashable {
  var cause: String

  init(_ cause: String) { self.cause = cause }
}

/// Reads `.zsync` files: lines `Name: value`, an empty line, and the table of checksums. Source: zsync 0.6.2, `zsync.c`
/// (zsync_begin) and `make.c`.
///
/// Its `URL` and `Filename` are not used: the file is fetched from where the user says, under the name that it has
/// there. Tables for the content of compressed files (`Z-Map2`) belong to other bytes, and are refused.
struct ZsyncReader {
  /// A header is a few hundred bytes long.
  static let longestHeader = 16 << 10
  /// In bytes: shorter ones make the table nearly as long as the file, and longer ones find nothing.
  static let blockLengths = 256...(1 << 20)
  /// Their checksums, and what is needed to find them, take some 130 MiB.
  static let mostBlocks: Int64 = 2 << 20
  static let longestFile: Int64 = 32 << 20

  private var fields: [String: String] = [:]

  static func read(_ bytes: [UInt8]) throws(ZsyncFault) -> PublishedBlocks {
    let header = bytes.prefix(longestHeader)
    guard bytes.starts(with: "zsync: ".utf8) else { throw ZsyncFault("it is not a .zsync file") }
    guard let end = header.indices.dropLast().first(where: { header[$0] == 0x0A && header[$0 + 1] == 0x0A }) else {
      throw ZsyncFault("its header has no end")
    }
    return try Self(String(decoding: header[..<end], as: UTF8.self)).blocks(bytes, from: end + 2)
  }

  private init(_ header: String) throws(ZsyncFault) {
    for line in header.split(separator: "\n") {
      guard let colon = line.firstIndex(of: ":") else { throw ZsyncFault("its header has a line without a name") }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      let known = fields.updateValue(String(value), forKey: line[..<colon].lowercased())
      // Several URLs are allowed, and none is used.
      guard known == nil || line.lowercased().hasPrefix("url:") else {
        throw ZsyncFault("its header has a field twice")
      }
    }
  }

  private func blocks(_ bytes: [UInt8], from start: Int) throws(ZsyncFault) -> PublishedBlocks {
    if fields["z-map2"] != nil { throw ZsyncFault("it is for the content of a compressed file") }
    guard let size = number("length", in: 1...Int64.max / 2) else { throw ZsyncFault("its Length is invalid") }
    let lengths = Int64(Self.blockLengths.lowerBound)...Int64(Self.blockLengths.upperBound)
    guard let length = number("blocksize", in: lengths), length & (length - 1) == 0 else {
      throw ZsyncFault("its Blocksize is not a power of two from \(lengths.lowerBound) to \(lengths.upperBound)")
    }
    guard (size - 1) / length < Self.mostBlocks else { throw ZsyncFault("it has more than \(Self.mostBlocks) blocks") }
    guard let hash = fields["sha-1"], let digest = Digest(text: "sha1:\(hash.lowercased())") else {
      throw ZsyncFault("it has no valid SHA-1 of the whole file")
    }
    let hashes = try hashLengths()
    let blocks = PublishedBlocks(
      size: size, digest: digest, blockLength: Int(length), sequence: hashes[0], sumBytes: hashes[1],
      digestBytes: hashes[2], table: bytes, from: start)
    guard var blocks else { throw ZsyncFault("its table has another length than its header says") }
    blocks.modified = modified
    return blocks
  }

  /// zsyncmake writes UTC as `+0000`.
  private var modified: String? {
    guard let text = fields["mtime"], text.hasSuffix(" +0000") else { return nil }
    return text.dropLast(5) + "GMT"
  }

  /// How many consecutive blocks must match, and how many bytes of each checksum are stored.
  private func hashLengths() throws(ZsyncFault) -> [Int] {
    let texts = fields["hash-lengths"]?.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = texts?.compactMap { Int($0) } ?? [1, 4, 16]
    guard numbers.count == 3, texts?.count ?? 3 == 3, (1...2).contains(numbers[0]), (1...4).contains(numbers[1]),
      (3...16).contains(numbers[2])
    else { throw ZsyncFault("its Hash-Lengths are invalid") }
    return numbers
  }

  private func number(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
    guard let text = fields[name], (1...18).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text), range.contains(number)
    else { return nil }
    return number
  }
}
