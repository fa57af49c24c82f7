import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file that is open for reading.
protocol ReadableFile: AnyObject, Sendable {
  var descriptor: Int32 { get }
}

extension ReadableFile {
  /// Reads from `offset` until `buffer` is full. Blocking.
  /// - Throws: `source.short_read`, `source.io`.
  func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) {
    var filled = 0
    while filled < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let count = try read(into: rest, at: offset + Int64(filled))
      guard count > 0 else {
        throw Failure(.sourceShortRead, "the source ended at byte \(offset + Int64(filled))")
      }
      filled += count
    }
  }

  /// Fills the beginning of `buffer` from `offset`; returns the number of bytes, 0 at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int {
    while true {
      let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
      if count >= 0 { return count }
      guard errno == EINTR else {
        throw Failure(.sourceIO, "cannot read at byte \(offset): \(systemText(errno))", systemError: errno)
      }
    }
  }
}
