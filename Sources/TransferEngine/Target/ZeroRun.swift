import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Writes a stream of bytes to one place of a file, and leaves holes for its zeros. A run of zeros is held back until
/// its end is known, so that it does not matter how the stream is cut. Zeros that fill no block of the file system are
/// written: a hole of less than that frees nothing, and each costs a call of the system.
struct ZeroRun {
  /// Bytes; in pieces of this length the stream is looked at.
  private static let block: Int64 = 4_096

  /// Bytes; what the file system gives room in.
  private var room: Int64?

  /// Zeros that came and are not in the file yet; empty for none.
  private var held = ByteRange(offset: 0, length: 0)

  /// - Parameter room: nil for what the file system of the file says.
  init(room: Int64? = nil) { self.room = room }

  /// - Parameter offset: of the first byte, in the file; behind what was written last.
  mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64, to file: TargetFile) throws(Failure) {
    var written = 0
    var position = 0
    while position < bytes.count {
      let here = offset + Int64(position)
      let next = min(bytes.count, position + Int(Self.block - here % Self.block))
      if Self.isZero(bytes[position..<next]) {
        if written < position { try put(bytes[written..<position], at: offset + Int64(written), to: file) }
        hold(ByteRange(offset: here, length: Int64(next - position)))
        written = next
      }
      position = next
    }
    if written < position { try put(bytes[written..<position], at: offset + Int64(written), to: file) }
  }

  /// What is held back is in the file when this returns.
  mutating func flush(to file: TargetFile) throws(Failure) {
    guard held.length > 0 else { return }
    let room = room ?? file.blockSize
    self.room = room
    let (start, end) = ((held.offset + room - 1) / room * room, held.end / room * room)
    if start < end {
      try file.writeZeros(ByteRange(offset: held.offset, length: start - held.offset))
      try file.clear(ByteRange(offset: start, length: end - start))
      try file.writeZeros(ByteRange(offset: end, length: held.end - end))
    } else {
      try file.writeZeros(held)
    }
    held = ByteRange(offset: held.end, length: 0)
  }

  private mutating func hold(_ zeros: ByteRange) {
    if held.length == 0 { held = ByteRange(offset: zeros.offset, length: 0) }
    held = ByteRange(offset: held.offset, length: held.length + zeros.length)
  }

  private mutating func put(
    _ bytes: Slice<UnsafeRawBufferPointer>, at offset: Int64, to file: TargetFile
  ) throws(Failure) {
    try flush(to: file)
    try file.write(UnsafeRawBufferPointer(rebasing: bytes), at: offset)
  }

  /// Each byte is the one before it, and the first is zero.
  private static func isZero(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let first = bytes.first, first == 0 else { return false }
    let start = bytes.base.baseAddress! + bytes.startIndex
    return memcmp(start, start + 1, bytes.count - 1) == 0
  }
}
