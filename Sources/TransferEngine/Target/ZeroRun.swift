import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Writes a stream of bytes to one range of a file, and leaves holes for its zeros. A run of zeros is held back until
/// its end is known, so that the division of the stream into pieces does not matter. Zeros that fill no block of the
/// file system are written: a smaller hole frees nothing, and each hole costs a system call.
struct ZeroRun {
  /// The stream is examined in pieces of this length, in bytes.
  private static let block: Int64 = 4_096

  /// The unit in which the file system allocates space, in bytes.
  private var room: Int64?

  /// Zeros that arrived and are not in the file yet; empty for none.
  private var held = ByteRange(offset: 0, length: 0)

  /// - Parameter room: nil for the unit of the file's own file system.
  init(room: Int64? = nil) { self.room = room }

  /// - Parameter offset: of the first byte, in the file; behind all earlier writes.
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

  /// Writes the zeros that are held back; they are in the file on return.
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

  /// Whether the first byte is zero, and each byte equals the one before it.
  private static func isZero(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let first = bytes.first, first == 0 else { return false }
    let start = bytes.base.baseAddress! + bytes.startIndex
    return memcmp(start, start + 1, bytes.count - 1) == 0
  }
}
