import Glibc
import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferProtocols

/// The remark when blocks of an existing file are not reused.
@Suite struct BlockReuseTests {
  private let folder: TemporaryFolder
  private var path: String { "\(folder.path)/a.bin" }
  private let length = 1 << 16
  private let count = 16

  init() throws { folder = try TemporaryFolder() }

  private func write(_ byte: UInt8) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    let bytes = [UInt8](repeating: byte, count: count * length)
    #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
  }

  /// The rolling checksum of a block of ones, with an MD4 that nothing has.
  private func blocks() throws -> PublishedBlocks {
    let (a, b) = (length % 65_536, length * (length + 1) / 2 % 65_536)
    let entry = [UInt8(a >> 8), UInt8(a & 255), UInt8(b >> 8), UInt8(b & 255)] + [UInt8](repeating: 0xAA, count: 16)
    let header = [
      "zsync: 0.6.2", "Blocksize: \(length)", "Length: \(count * length)", "Hash-Lengths: 1,4,16",
      "SHA-1: \(String(repeating: "0", count: 40))", "", "",
    ]
    let table = (0..<count).flatMap { _ in entry }
    return try ZsyncReader.read(Array(header.joined(separator: "\n").utf8) + table)
  }

  private func remark() throws -> String? {
    let target = Target(
      TargetNames(NameBytes(path), below: folder.path, UID(high: 1, low: 2)),
      known: SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0), overwrites: true)
    let chunk = IncompleteChunk(seq: 0, range: ByteRange(offset: 0, length: Int64(count * length)), acked: 0)
    let reused = try BlockReuse(target: target, blocks: try blocks(), chunks: [chunk], algorithm: .crc32c).perform()
    #expect(!reused.hasData)
    return reused.remark
  }

  @Test func theTrueCauseIsTold() throws {
    #expect(try remark()?.hasPrefix("the existing file was removed in the meantime") == true)
    write(2)
    #expect(try remark()?.hasPrefix("the existing file has no block of it") == true)
    // Each position has the checksum of a block.
    write(1)
    #expect(try remark()?.hasPrefix("the search in the existing file was given up") == true)
  }
}
