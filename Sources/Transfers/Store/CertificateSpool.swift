import TransferEngine
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A statement that may be too long for memory: kept in an unnamed temporary file until it is signed and written. Used
/// by one thread.
package final class CertificateSpool {
  private let file: UnsafeMutablePointer<FILE>
  private(set) var length = 0
  /// Space before the statement for the header that is signed with it.
  private static let room = 256
  /// A multiple of three, so that the base64 of the pieces is that of the whole.
  private static let piece = 96 << 10

  init() throws(TransferError) {
    file = try Spooling.open()
    guard fseek(file, Self.room, SEEK_SET) == 0 else { throw Self.failure(errno) }
  }

  deinit { fclose(file) }

  func append(_ bytes: [UInt8]) throws(TransferError) {
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Self.failure(errno) }
    length += bytes.count
  }

  /// Appends the content of another spool.
  func append(_ other: CertificateSpool) throws(TransferError) {
    try other.forEachPiece { bytes throws(TransferError) in try append(bytes) }
  }

  /// Maps the statement with `opening` before it; the kernel can reclaim the pages when it needs memory.
  func withMapped(_ opening: [UInt8], _ body: (UnsafeRawBufferPointer) -> Void) throws(TransferError) {
    precondition(opening.count <= Self.room, "an opening of \(opening.count) bytes")
    let start = Self.room - opening.count
    guard fflush(file) == 0, pwrite(fileno(file), opening, opening.count, off_t(start)) == opening.count else {
      throw Self.failure(errno)
    }
    let size = Self.room + length
    guard let base = mmap(nil, size, PROT_READ, MAP_SHARED, fileno(file), 0), base != MAP_FAILED else {
      throw Self.failure(errno)
    }
    defer { munmap(base, size) }
    body(UnsafeRawBufferPointer(start: base + start, count: size - start))
  }

  /// The statement from its beginning to its end.
  func forEachPiece(_ body: ([UInt8]) throws(TransferError) -> Void) throws(TransferError) {
    guard fflush(file) == 0 else { throw Self.failure(errno) }
    var offset = 0
    while offset < length {
      var bytes = [UInt8](repeating: 0, count: min(Self.piece, length - offset))
      let count = pread(fileno(file), &bytes, bytes.count, off_t(Self.room + offset))
      guard count == bytes.count else { throw Self.failure(count < 0 ? errno : EIO) }
      try body(bytes)
      offset += count
    }
  }

  private static func failure(_ code: Int32) -> TransferError {
    Spooling.failure(code, keeping: "the certificate until it is signed", remedy: "set TMPDIR to another folder")
  }
}
