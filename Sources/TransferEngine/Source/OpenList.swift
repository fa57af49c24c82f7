import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension FileList {
  var name: NameBytes { path ?? NameBytes("standard input") }
}

/// Reads the names of a list, which may be compressed, sequentially: any length, with memory for one block. Blocking.
final class OpenList {
  let list: FileList
  /// The line of the last entry, from 1.
  var line = 0
  private let descriptor: Int32
  private let bytes: PlainBytes
  private var block: UnsafeMutableRawBufferPointer
  private var unread: Range<Int> = 0..<0
  private var isAtEnd = false

  /// No path is longer, and no list of paths has a longer line.
  static let longestEntry = 64 << 10

  /// - Throws: `.noSource` if it cannot be opened or is not a readable file.
  init(_ list: FileList) throws(TransferError) {
    self.list = list
    block = .allocate(byteCount: 4 * Self.longestEntry, alignment: 16)
    descriptor = list.path?.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NOCTTY) } ?? 0
    let code = errno
    bytes = PlainBytes(descriptor, list.name)
    if descriptor < 0 { throw unreadable(code) }
  }

  deinit {
    if list.path != nil && descriptor >= 0 { close(descriptor) }
    block.deallocate()
  }

  /// The next entry without its separator; valid until the next call. nil at the end.
  func next() throws(TransferError) -> BorrowedName? {
    while true {
      let rest = UnsafeRawBufferPointer(rebasing: block[unread])
      if let end = Self.position(of: list.separator.rawValue, in: rest) {
        unread = unread.lowerBound + end + 1..<unread.upperBound
        line += 1
        return UnsafeRawBufferPointer(rebasing: rest[..<end])
      }
      if isAtEnd {
        guard !rest.isEmpty else { return nil }
        unread = unread.upperBound..<unread.upperBound
        line += 1
        return rest
      }
      guard rest.count < Self.longestEntry else {
        line += 1
        throw wrong("it is longer than any path; is it a list with other separators?")
      }
      try fill(rest)
    }
  }

  /// Its format, if it is a manifest and not a plain list of names.
  func manifestFormat() throws(TransferError) -> ManifestFormat? {
    guard list.separator == .newline else { return nil }
    if unread.isEmpty, !isAtEnd { try fill(UnsafeRawBufferPointer(rebasing: block[unread])) }
    return ManifestFormat(ofUploads: list.name.uncompressed, front: Array(block[unread]))
  }

  /// Bytes of the list, as they arrive; valid until the next call. nil at the end.
  func nextBlock() throws(TransferError) -> UnsafeRawBufferPointer? {
    if unread.isEmpty, !isAtEnd { try fill(UnsafeRawBufferPointer(rebasing: block[unread])) }
    guard !unread.isEmpty else { return nil }
    defer { unread = unread.upperBound..<unread.upperBound }
    return UnsafeRawBufferPointer(rebasing: block[unread])
  }

  /// The error for the line that was read last.
  func wrong(_ cause: String, _ remedy: String = "correct the list") -> TransferError {
    TransferError(
      .badList, "read list", list.name, cause: "line \(line): \(cause)", remedy: remedy + "; nothing was recorded")
  }

  private func fill(_ rest: UnsafeRawBufferPointer) throws(TransferError) {
    if unread.lowerBound > 0 {
      if let start = rest.baseAddress, let to = block.baseAddress { memmove(to, start, rest.count) }
      unread = 0..<rest.count
    }
    let count = try bytes.read(into: UnsafeMutableRawBufferPointer(rebasing: block[unread.upperBound...]))
    unread = 0..<unread.upperBound + count
    isAtEnd = count == 0
  }

  private func unreadable(_ code: Int32) -> TransferError {
    TransferError(.noSource, "read list", list.name, cause: systemText(code), remedy: "check the path")
  }

  static func position(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count) else { return nil }
    return UnsafeRawPointer(found) - start
  }
}
