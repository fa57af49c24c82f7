import CDigest
import TransferModel
import TransferTestSupport

@testable import TransferProtocols

/// A `.zsync` file as zsyncmake writes it, made by a second implementation: each checksum is computed anew.
struct ZsyncScene {
  var bytes: [UInt8]
  var blockLength = 1_024
  var sequence = 2
  var sumBytes = 2
  var digestBytes = 5

  static func random(_ count: Int) -> [UInt8] { noise(count) }

  func block(_ number: Int) -> [UInt8] {
    let block = Array(bytes[number * blockLength..<min(bytes.count, (number + 1) * blockLength)])
    return block + [UInt8](repeating: 0, count: blockLength - block.count)
  }

  static func sum(_ block: [UInt8]) -> UInt32 {
    var (a, b): (Int, Int) = (0, 0)
    for byte in block {
      a = (a + Int(byte)) % 65_536
      b = (b + a) % 65_536
    }
    return UInt32(a) << 16 | UInt32(b)
  }

  static func md4(_ block: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 16)
    cdigest_md4(block, block.count, &digest)
    return digest
  }

  var count: Int { (bytes.count + blockLength - 1) / blockLength }

  var table: [UInt8] {
    (0..<count).flatMap { number in
      let sum = Self.sum(block(number))
      let stored = [UInt8(sum >> 24), UInt8(sum >> 16 & 255), UInt8(sum >> 8 & 255), UInt8(sum & 255)]
      return stored.suffix(sumBytes) + Self.md4(block(number)).prefix(digestBytes)
    }
  }

  var header: [String] {
    [
      "zsync: 0.6.2", "Filename: file.bin", "MTime: Thu, 26 Nov 2026 10:00:00 +0000", "Blocksize: \(blockLength)",
      "Length: \(bytes.count)", "Hash-Lengths: \(sequence),\(sumBytes),\(digestBytes)", "URL: file.bin",
      "SHA-1: \(RunningDigest.of(bytes, .sha1).description.dropFirst(5))",
    ]
  }

  static func file(_ header: [String], _ table: [UInt8]) -> [UInt8] {
    Array((header.joined(separator: "\n") + "\n\n").utf8) + table
  }

  var file: [UInt8] { Self.file(header, table) }

  func published() throws -> PublishedBlocks { try ZsyncReader.read(file) }
}
