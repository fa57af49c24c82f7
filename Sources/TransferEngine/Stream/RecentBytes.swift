import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The last bytes that were written out of a file, for comparison with those that a server repeats. A value.
struct RecentBytes {
  /// How many are kept at least, if there are as many; twice as many use memory.
  static let kept = 1 << 20

  private var bytes: [UInt8] = []
  /// The offset in the file of the next byte.
  private var end: Int64 = 0
  private var start: Int64 { end - Int64(bytes.count) }

  mutating func append(_ next: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: next.suffix(Self.kept))
    end += Int64(next.count)
    if next.count >= Self.kept { bytes.removeFirst(bytes.count - Self.kept) }
    if bytes.count >= 2 * Self.kept { bytes.removeFirst(bytes.count - Self.kept) }
  }

  /// The failure if `again` are not the bytes that were written at `offset`, or if these are no longer known.
  func difference(from again: UnsafeRawBufferPointer, at offset: Int64) -> Failure? {
    guard !again.isEmpty else { return nil }
    guard offset >= start, offset + Int64(again.count) <= end else {
      let text = "the server repeated bytes from \(offset) on, which are no longer here to be compared"
      return Failure(.protoBadReply, text)
    }
    let isSame = bytes.withUnsafeBytes { kept in
      memcmp(kept.baseAddress! + Int(offset - start), again.baseAddress!, again.count) == 0
    }
    return isSame
      ? nil : Failure(.sourceChanged, "the server sent different bytes than before, from byte \(offset) on")
  }
}
