import Testing
import TransferModel

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Zeros become holes, however the byte stream is split.
@Suite struct ZeroRunTests {
  private let folder: TemporaryFolder
  private static let size = 1 << 20

  init() throws { folder = try TemporaryFolder() }

  private func made() throws -> TargetFile {
    let names = TargetNames(NameBytes("\(folder.path)/a.bin"), below: folder.path, UID(high: 1, low: 2))
    let known = SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0)
    let target = Target(names, known: known, overwrites: false, isSparse: true)
    return try #require(try target.file(size: Int64(Self.size), holdsBytes: false))
  }

  /// Two islands in zeros; neither of them begins or ends at a block boundary.
  private var content: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    for n in 100_001..<104_321 { bytes[n] = UInt8(truncatingIfNeeded: n | 1) }
    bytes[700_000] = 9
    return bytes
  }

  private func write(_ bytes: [UInt8], in pieces: Int, to file: TargetFile, room: Int64? = nil) throws {
    var run = ZeroRun(room: room)
    for offset in stride(from: 0, to: bytes.count, by: pieces) {
      try bytes[offset..<min(offset + pieces, bytes.count)].withUnsafeBytes {
        try run.write($0, at: Int64(offset), to: file)
      }
    }
    try run.flush(to: file)
  }

  private func status(_ file: TargetFile) -> stat {
    var status = stat()
    #expect(fsync(file.descriptor) == 0 && fstat(file.descriptor, &status) == 0)
    return status
  }

  @Test(arguments: [1 << 20, 65_536, 16_384, 5_000, 4_095, 777]) func zerosTakeNoRoom(_ pieces: Int) throws {
    let file = try made()
    try write(content, in: pieces, to: file)
    #expect(try content.withUnsafeBytes { try file.holds($0, at: 0) })
    let status = status(file)
    #expect(status.st_size == Self.size)
    #expect(status.st_blocks * 512 <= 8 * 4_096, "\(status.st_blocks)")
  }

  /// If the file system allocates blocks of 64 KiB, only zeros that fill whole blocks become a hole.
  @Test(arguments: [1 << 20, 50_000, 777]) func aHoleIsOfWholeBlocks(_ pieces: Int) throws {
    let (file, room) = (try made(), 65_536)
    var bytes = [UInt8](repeating: 0, count: Self.size)
    // Islands between runs of zeros that contain no whole block, then a run that contains one, and a run that contains
    // two.
    for start in stride(from: 0, to: 8 * room, by: 24_576) { bytes[start] = 1 }
    bytes[9 * room + 100] = 1
    for n in (12 * room + 5)..<Self.size { bytes[n] = 2 }
    try write([UInt8](repeating: 7, count: Self.size), in: 50_000, to: file)
    try write(bytes, in: pieces, to: file, room: Int64(room))
    #expect(try bytes.withUnsafeBytes { try file.holds($0, at: 0) })
    let holes = Self.size - Int(status(file).st_blocks) * 512
    #expect(holes > 2 * room && holes <= 3 * room, "\(holes)")
  }

  /// The zeros of a new body overwrite what an interrupted body left.
  @Test func zerosReplaceWhatIsThere() throws {
    let file = try made()
    try write([UInt8](repeating: 7, count: Self.size), in: 50_000, to: file)
    #expect(status(file).st_blocks * 512 >= Self.size)
    try write(content, in: 50_000, to: file)
    #expect(try content.withUnsafeBytes { try file.holds($0, at: 0) })
    #expect(status(file).st_blocks * 512 <= 8 * 4_096)
  }
}
