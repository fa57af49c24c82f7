import CZlib
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Reads a descriptor sequentially; what is compressed with gzip (RFC 1952) is decompressed, with memory for one block.
/// Blocking.
final class PlainBytes {
  private static let blockSize = 64 << 10
  private static let magic: [UInt8] = [0x1F, 0x8B]

  private let descriptor: Int32
  private let name: NameBytes
  /// Takes the bytes as they are in the file.
  private let stored: (UnsafeRawBufferPointer) -> Void
  private let block: UnsafeMutableRawBufferPointer
  /// The bytes of ``block`` that were read and not yet used.
  private var unread: Range<Int> = 0..<0
  private var isAtEnd = false
  /// nil for bytes that are not compressed.
  private var inflater: OpaquePointer?
  private var isKnown = false
  /// Between two members of a compressed file, or after the last one.
  private var isBetween = false

  /// - Parameters:
  ///   - name: the name of the list, for messages.
  ///   - stored: takes all bytes as stored, before they are decompressed.
  init(_ descriptor: Int32, _ name: NameBytes, stored: @escaping (UnsafeRawBufferPointer) -> Void = { _ in }) {
    (self.descriptor, self.name, self.stored) = (descriptor, name, stored)
    block = .allocate(byteCount: Self.blockSize, alignment: 16)
  }

  deinit {
    if let inflater { czlib_close(inflater) }
    block.deallocate()
  }

  /// The next bytes, as they arrive; 0 only at the end.
  /// - Throws: `.noSource` if it cannot be read; `.badList` if it is compressed, and corrupt or cut off.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
    if !isKnown { try detect() }
    if inflater != nil { return try inflate(into: buffer) }
    guard unread.isEmpty else {
      let count = min(unread.count, buffer.count)
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: block[unread.prefix(count)]))
      unread = unread.dropFirst(count)
      return count
    }
    return isAtEnd ? 0 : try fetch(buffer)
  }

  /// Only if the first byte may be that of a compressed file is the second one waited for.
  private func detect() throws(TransferError) {
    isKnown = true
    try fill()
    while unread.count == 1, block[0] == Self.magic[0], !isAtEnd { try fill() }
    guard block[unread].starts(with: Self.magic) else { return }
    if let problem = czlib_load() {
      throw TransferError(
        .config, "load zlib", NameBytes(String(cString: problem)), cause: "\(name.embedded) is compressed with gzip",
        remedy: "install zlib (Debian: zlib1g), or decompress it first")
    }
    guard let opened = czlib_open() else { throw unreadable(ENOMEM) }
    inflater = opened
  }

  private func inflate(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
    while true {
      if unread.isEmpty, !isAtEnd { try fill() }
      if isBetween, try isOver() { return 0 }
      let input = UnsafeRawBufferPointer(rebasing: block[unread])
      let step = czlib_inflate(inflater, input.baseAddress, input.count, buffer.baseAddress, buffer.count)
      unread = unread.dropFirst(step.taken)
      switch step.verdict {
      case .end: isBetween = true
      case .corrupt: throw wrong("its gzip data is corrupt")
      case .noMemory: throw unreadable(ENOMEM)
      case .more:
        guard step.taken + step.given > 0 || !isAtEnd else { throw wrong("it is cut off: its gzip data has no end") }
      }
      if step.given > 0 { return step.given }
    }
  }

  /// Whether no further member follows. Zeros after the last one are padding, as gzip itself accepts.
  private func isOver() throws(TransferError) -> Bool {
    while true {
      while let first = unread.first, block[first] == 0 { unread = unread.dropFirst() }
      if unread.count >= Self.magic.count || isAtEnd { break }
      try fill()
    }
    if unread.isEmpty { return true }
    guard block[unread].starts(with: Self.magic) else { throw wrong("there are other bytes after its gzip data") }
    czlib_restart(inflater)
    isBetween = false
    return false
  }

  /// Appends bytes to the unread ones, of which there are few.
  private func fill() throws(TransferError) {
    let kept = Array(block[unread])
    block.copyBytes(from: kept)
    unread = 0..<kept.count
    unread = 0..<(kept.count + (try fetch(UnsafeMutableRawBufferPointer(rebasing: block[kept.count...]))))
  }

  private func fetch(_ buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
    while true {
      #if canImport(Glibc)
        let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      #else
        let count = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
      #endif
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw unreadable(errno) }
      isAtEnd = count == 0
      stored(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      return count
    }
  }

  private func wrong(_ cause: String) -> TransferError {
    TransferError(.badList, "read list", name, cause: cause, remedy: "copy it again; \"gzip -t\" tests it")
  }

  private func unreadable(_ code: Int32) -> TransferError {
    TransferError(
      .noSource, "read list", name, cause: systemText(code),
      remedy: code == EISDIR ? "push the folder itself, without --files-from" : "check the path")
  }
}
