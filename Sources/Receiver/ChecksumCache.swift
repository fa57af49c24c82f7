import Glibc
import TransferModel

/// Remembers checksums of files: a file that changed in any way since is read again.
final class ChecksumCache: Sendable {
  private struct Identity: Hashable {
    var device: UInt
    var inode: UInt
    var size: Int
    var modified: [Int]

    init(_ status: stat) {
      device = UInt(status.st_dev)
      inode = UInt(status.st_ino)
      size = Int(status.st_size)
      modified = [
        status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
      ]
    }
  }

  private let known = Lock<[Identity: UInt32]>([:])
  private static let limit = 100_000

  func remember(_ crc32c: UInt32, _ status: stat) {
    known.withLock { known in
      if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
      known[Identity(status)] = crc32c
    }
  }

  func checksum(of file: Descriptor, _ status: stat) throws(ExchangeEnd) -> UInt32 {
    if let found = known.withLock({ $0[Identity(status)] }) { return found }
    let computed = try Self.compute(file)
    remember(computed, status)
    return computed
  }

  /// The checksum of the content with every byte XORed with `mask`.
  static func compute(_ file: Descriptor, mask: UInt8 = 0) throws(ExchangeEnd) -> UInt32 {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
    defer { buffer.deallocate() }
    var crc = CRC32C()
    var offset: off_t = 0
    while true {
      let count = pread(file.number, buffer.baseAddress!, buffer.count, offset)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .systemError(errno, "read object") }
      if count == 0 { return crc.value }
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      applyMask(mask, to: piece)
      crc.add(UnsafeRawBufferPointer(piece))
      offset += count
    }
  }
}

/// XORs every byte with `mask`.
func applyMask(_ mask: UInt8, to bytes: UnsafeMutableRawBufferPointer) {
  if mask == 0 { return }
  for i in bytes.indices { bytes[i] ^= mask }
}
