import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Hashes of the keys of a scan with the positions of their records, on disk: finds possible duplicates without keeping
/// a million keys, or even their hashes, in memory.
final class KeyLog {
  struct Mark {
    var hash: UInt64
    /// Index of the file in the scan, from 0.
    var number: UInt64
    var offset: UInt64
  }

  /// Maximum number of marks in memory: 12 MiB.
  private static let atOnce = 1 << 19

  private let file: UnsafeMutablePointer<FILE>
  private(set) var count: UInt64 = 0
  private let partSize: Int

  init(partSize: Int = KeyLog.atOnce) throws(TransferError) {
    self.partSize = partSize
    file = try Spooling.open()
  }

  deinit { fclose(file) }

  func append(_ key: BorrowedName, at offset: UInt64) throws(TransferError) {
    var hasher = Hasher()
    hasher.combine(bytes: key)
    var mark = Mark(hash: UInt64(bitPattern: Int64(hasher.finalize())), number: count, offset: offset)
    guard fwrite(&mark, MemoryLayout<Mark>.stride, 1, file) == 1 else { throw Spooling.failure(errno) }
    count += 1
  }

  /// Calls `body` for each group of marks with equal hashes, in scan order. Reads the file once for every half million
  /// marks.
  func forEachGroup(_ body: (ArraySlice<Mark>) throws(TransferError) -> Void) throws(TransferError) {
    let parts = UInt64(max(1, (Int(count) + partSize - 1) / partSize))
    for part in 0..<parts {
      var marks = try marks { $0.hash.multipliedFullWidth(by: parts).high == part }
      marks.sort { ($0.hash, $0.number) < ($1.hash, $1.number) }
      var start = 0
      for index in marks.indices where index + 1 == marks.count || marks[index + 1].hash != marks[start].hash {
        if index > start { try body(marks[start...index]) }
        start = index + 1
      }
    }
  }

  private func marks(where belongs: (Mark) -> Bool) throws(TransferError) -> [Mark] {
    guard fseeko(file, 0, SEEK_SET) == 0 else { throw Spooling.failure(errno) }
    var found: [Mark] = []
    var mark = Mark(hash: 0, number: 0, offset: 0)
    while fread(&mark, MemoryLayout<Mark>.stride, 1, file) == 1 {
      if belongs(mark) { found.append(mark) }
    }
    if ferror(file) != 0 { throw Spooling.failure(errno) }
    return found
  }
}

/// Anonymous temporary files, which disappear with the process.
package enum Spooling {
  private static let folder = temporaryFolder()

  /// An anonymous temporary file, which disappears with the process.
  package static func open() throws(TransferError) -> UnsafeMutablePointer<FILE> {
    let descriptor = folder.withCString { csys_open_unnamed($0) }
    guard descriptor >= 0, let stream = fdopen(descriptor, "w+") else { throw failure(errno) }
    setvbuf(stream, nil, _IOFBF, 256 << 10)
    return stream
  }

  /// The same choice as SQLite's: /tmp is not first, because it may be in memory.
  private static func temporaryFolder() -> NameBytes {
    let named = getenv("TMPDIR").map { NameBytes(String(cString: $0)) }
    let folders = (named.map { [$0] } ?? []) + [NameBytes("/var/tmp"), NameBytes("/tmp")]
    return folders.first { folder in folder.withCString { access($0, W_OK | X_OK) } == 0 } ?? NameBytes(".")
  }

  package static func failure(
    _ code: Int32, keeping what: String = "the list while it is checked",
    remedy: String = "set TMPDIR to another folder; nothing was recorded"
  ) -> TransferError {
    TransferError(
      code == ENOSPC || code == EDQUOT ? .storeFull : .storeIO, "keep \(what) in", folder, cause: systemText(code),
      remedy: remedy)
  }
}
