package import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Finds a path that a list names twice. The paths are kept on disk, because a list may have many millions of them.
package final class RepeatedPaths {
  package struct Repeat {
    package let path: NameBytes
    /// Its line in the list, and that of the same path before it.
    package let line, earlier: Int
  }

  private struct Head {
    var line, count: Int
  }

  private let keys: KeyLog
  private let file: UnsafeMutablePointer<FILE>
  private var offset: UInt64 = 0

  package init() throws(TransferError) {
    keys = try KeyLog()
    file = try Spooling.open()
  }

  deinit { fclose(file) }

  package func take(_ path: NameBytes, line: Int) throws(TransferError) {
    let count = path.bytes.count
    var head = Head(line: line, count: count)
    try path.bytes.withUnsafeBufferPointer { bytes throws(TransferError) in
      try keys.append(UnsafeRawBufferPointer(bytes), at: offset)
    }
    guard fwrite(&head, MemoryLayout<Head>.stride, 1, file) == 1, fwrite(path.bytes, 1, count, file) == count else {
      throw failure()
    }
    offset += UInt64(MemoryLayout<Head>.stride + count)
  }

  /// Another one with the same paths so far.
  package func copy() throws(TransferError) -> RepeatedPaths {
    let other = try RepeatedPaths()
    guard fseeko(file, 0, SEEK_SET) == 0 else { throw failure() }
    while other.offset < offset {
      let (path, line) = try record()
      try other.take(path, line: line)
    }
    // The next path is written behind the others.
    guard fseeko(file, 0, SEEK_END) == 0 else { throw failure() }
    return other
  }

  /// The first line whose path an earlier line has; nil if there is none.
  package func first() throws(TransferError) -> Repeat? {
    guard fflush(file) == 0 else { throw failure() }
    var first: Repeat?
    try keys.forEachGroup { group throws(TransferError) in
      var known: [NameBytes: Int] = [:]
      for mark in group {
        guard fseeko(file, off_t(mark.offset), SEEK_SET) == 0 else { throw failure() }
        let (path, line) = try record()
        guard let earlier = known[path] else {
          known[path] = line
          continue
        }
        if line < first?.line ?? .max { first = Repeat(path: path, line: line, earlier: earlier) }
        return
      }
    }
    return first
  }

  /// The record at the position of the file.
  private func record() throws(TransferError) -> (path: NameBytes, line: Int) {
    var head = Head(line: 0, count: 0)
    guard fread(&head, MemoryLayout<Head>.stride, 1, file) == 1 else { throw failure() }
    var path = [UInt8](repeating: 0, count: head.count)
    guard fread(&path, 1, path.count, file) == path.count else { throw failure() }
    return (NameBytes(path), head.line)
  }

  private func failure() -> TransferError {
    Spooling.failure(errno, remedy: "set TMPDIR to another folder and run it again")
  }
}
