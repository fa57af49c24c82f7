import Glibc
import TransferModel

/// Bodies that arrive in pieces.
extension StagedObject {
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(ExchangeEnd) {
    var (rest, at) = (bytes, offset)
    while !rest.isEmpty {
      let written = pwrite(descriptor.number, rest.baseAddress!, rest.count, off_t(at))
      if written < 0 && errno == EINTR { continue }
      guard written > 0 else { throw .systemError(errno, "write part file") }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
      at += Int64(written)
    }
  }

  func truncate(to size: Int64) throws(ExchangeEnd) {
    guard ftruncate(descriptor.number, off_t(size)) == 0 else { throw .systemError(errno, "shorten part file") }
  }

  /// The written bytes are on the disk on return.
  func flush() throws(ExchangeEnd) {
    guard fdatasync(descriptor.number) == 0 else { throw .systemError(errno, "make part file durable") }
  }

  /// Reads a range of the file in pieces of at most 256 KiB.
  func read(_ range: ByteRange, _ consume: (UnsafeRawBufferPointer) throws(ExchangeEnd) -> Void) throws(ExchangeEnd) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
    defer { buffer.deallocate() }
    var offset = range.offset
    while offset < range.end {
      let wanted = Int(min(Int64(buffer.count), range.end - offset))
      let count = pread(descriptor.number, buffer.baseAddress!, wanted, off_t(offset))
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw .systemError(count == 0 ? EIO : errno, "read part file") }
      try consume(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
    }
  }

  func checksum(of range: ByteRange) throws(ExchangeEnd) -> UInt32 {
    var crc = CRC32C()
    try read(range) { bytes throws(ExchangeEnd) in crc.add(bytes) }
    return crc.value
  }

  /// Copies a range of another file to `offset` of this one.
  func copy(_ range: ByteRange, of other: StagedObject, to offset: Int64) throws(ExchangeEnd) {
    var at = offset
    try other.read(range) { bytes throws(ExchangeEnd) in
      try write(bytes, at: at)
      at += Int64(bytes.count)
    }
  }
}
