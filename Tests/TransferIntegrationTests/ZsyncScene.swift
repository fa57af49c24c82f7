import CDigest
import TransferModel
import TransferProtocols
import TransferTestSupport

/// The `.zsync` file of some bytes, as zsyncmake writes it.
enum ZsyncScene {
  static let blockLength = 2_048

  static func random(_ count: Int) -> [UInt8] { noise(count) }

  static func file(_ bytes: [UInt8], digest: Digest? = nil, modified: Int? = nil) -> [UInt8] {
    let sha1 = (digest ?? RunningDigest.of(bytes, .sha1)).description.dropFirst(5)
    let header = [
      "zsync: 0.6.2", "Filename: o0", "MTime: \(modified.map(date) ?? "Thu, 01 Jan 1970 00:00:00 +0000")",
      "Blocksize: \(blockLength)",
      "Length: \(bytes.count)", "Hash-Lengths: 2,2,5", "URL: o0", "SHA-1: \(sha1)", "", "",
    ]
    return Array(header.joined(separator: "\n").utf8) + table(bytes)
  }

  private static func date(_ seconds: Int) -> String {
    HTTPDate.text(wallMs: Int64(seconds) * 1_000).dropLast(3) + "+0000"
  }

  private static func table(_ bytes: [UInt8]) -> [UInt8] {
    var table: [UInt8] = []
    for offset in stride(from: 0, to: bytes.count, by: blockLength) {
      var block = Array(bytes[offset..<min(bytes.count, offset + blockLength)])
      block += [UInt8](repeating: 0, count: blockLength - block.count)
      let sum = cdigest_block_sum(block, blockLength)
      var md4 = [UInt8](repeating: 0, count: 16)
      cdigest_md4(block, blockLength, &md4)
      table += [UInt8(sum >> 8 & 255), UInt8(sum & 255)] + md4.prefix(5)
    }
    return table
  }
}
