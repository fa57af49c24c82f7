import CSys
import TransferLedger
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Keeps the files of a scan on disk until it is known that the request is right: nothing may be recorded of a list whose
/// last line is wrong, and a million files do not belong into memory. The file has no name and goes with the process.
final class SourceSpool: FileSink {
  private struct Record {
    var pathCount: UInt32
    var keyCount: UInt32
    var mode: UInt32
    /// Position in ``failures``; -1 for a file that can be sent.
    var failure: Int32
    var identity: SourceIdentity
  }

  private struct KeyMark {
    var hash: Int
    var offset: UInt64
  }

  private let folder: NameBytes
  private let file: UnsafeMutablePointer<FILE>
  private let watchesKeys: Bool
  private var offset: UInt64 = 0
  private var marks: [KeyMark] = []
  /// The different ones: a million files are missing for the same reason.
  private var failures: [Failure] = []
  private var failureNumbers: [String: Int32] = [:]

  /// - Parameter watchesKeys: files of different paths can have the same key, which ``check()`` then finds.
  init(watchesKeys: Bool) throws(TransferError) {
    self.watchesKeys = watchesKeys
    folder = Self.temporaryFolder()
    let descriptor = folder.withCString { csys_open_unnamed($0) }
    guard descriptor >= 0, let stream = fdopen(descriptor, "w+") else { throw Self.failure(folder, errno) }
    file = stream
    setvbuf(file, nil, _IOFBF, 256 << 10)
  }

  deinit { fclose(file) }

  func take(
    path: BorrowedName, key: BorrowedName, _ identity: SourceIdentity, mode: UInt32
  ) throws(TransferError) {
    if watchesKeys {
      var hasher = Hasher()
      hasher.combine(bytes: key)
      marks.append(KeyMark(hash: hasher.finalize(), offset: offset))
    }
    try write(path, key, mode, -1, identity)
  }

  func refuse(path: NameBytes, key: NameBytes, _ failure: Failure) throws(TransferError) {
    let name = "\(failure.code.rawValue) \(failure.message)"
    let number = failureNumbers[name] ?? Int32(failures.count)
    if number == failures.count { failures.append(failure) }
    failureNumbers[name] = number
    let none = SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0)
    try path.bytes.withUnsafeBufferPointer { path throws(TransferError) in
      try key.bytes.withUnsafeBufferPointer { key throws(TransferError) in
        try write(UnsafeRawBufferPointer(path), UnsafeRawBufferPointer(key), 0, number, none)
      }
    }
  }

  private func write(
    _ path: BorrowedName, _ key: BorrowedName, _ mode: UInt32, _ failure: Int32, _ identity: SourceIdentity
  ) throws(TransferError) {
    var record = Record(
      pathCount: UInt32(path.count), keyCount: UInt32(key.count), mode: mode, failure: failure, identity: identity)
    let size = MemoryLayout<Record>.stride
    let written =
      fwrite(&record, size, 1, file) == 1 && Self.write(path, file) && Self.write(key, file)
    guard written else { throw Self.failure(folder, errno) }
    offset += UInt64(size + path.count + key.count)
  }

  private static func write(_ bytes: BorrowedName, _ file: UnsafeMutablePointer<FILE>) -> Bool {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return true }
    return fwrite(start, 1, bytes.count, file) == bytes.count
  }

  /// - Throws: `.usage` when two files have the same key.
  func check() throws(TransferError) {
    marks.sort { ($0.hash, $0.offset) < ($1.hash, $1.offset) }
    var start = 0
    for index in marks.indices.dropFirst() {
      if marks[index].hash != marks[start].hash { start = index }
      for earlier in start..<index {
        let (a, b) = (try read(at: marks[earlier].offset), try read(at: marks[index].offset))
        if a.key == b.key && a.path != b.path { throw .sameKey(b.path, a.path, b.key) }
      }
    }
    marks = []
  }

  /// Gives everything to another sink, in the order in which it came.
  func replay(into sink: some FileSink) throws(TransferError) {
    guard fseeko(file, 0, SEEK_SET) == 0 else { throw Self.failure(folder, errno) }
    var names: [UInt8] = []
    while let record = try next(&names) {
      let middle = Int(record.pathCount)
      if record.failure >= 0 {
        let (path, key) = (NameBytes(Array(names[..<middle])), NameBytes(Array(names[middle...])))
        try sink.refuse(path: path, key: key, failures[Int(record.failure)])
        continue
      }
      try names.withUnsafeBufferPointer { names throws(TransferError) in
        let bytes = UnsafeRawBufferPointer(names)
        try sink.take(
          path: UnsafeRawBufferPointer(rebasing: bytes[..<middle]),
          key: UnsafeRawBufferPointer(rebasing: bytes[middle...]), record.identity, mode: record.mode)
      }
    }
  }

  private func read(at offset: UInt64) throws(TransferError) -> (path: NameBytes, key: NameBytes) {
    var names: [UInt8] = []
    guard fseeko(file, off_t(offset), SEEK_SET) == 0, let record = try next(&names) else {
      throw Self.failure(folder, EIO)
    }
    let middle = Int(record.pathCount)
    return (NameBytes(Array(names[..<middle])), NameBytes(Array(names[middle...])))
  }

  /// nil at the end.
  private func next(_ names: inout [UInt8]) throws(TransferError) -> Record? {
    var record = Record(
      pathCount: 0, keyCount: 0, mode: 0, failure: -1,
      identity: SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0))
    guard fread(&record, MemoryLayout<Record>.stride, 1, file) == 1 else {
      if ferror(file) != 0 { throw Self.failure(folder, errno) }
      return nil
    }
    let count = Int(record.pathCount) + Int(record.keyCount)
    if names.count != count { names = [UInt8](repeating: 0, count: count) }
    guard fread(&names, 1, count, file) == count else { throw Self.failure(folder, EIO) }
    return record
  }

  /// As SQLite chooses: not /tmp first, which may be memory.
  private static func temporaryFolder() -> NameBytes {
    let named = getenv("TMPDIR").map { NameBytes(String(cString: $0)) }
    let folders = (named.map { [$0] } ?? []) + [NameBytes("/var/tmp"), NameBytes("/tmp")]
    return folders.first { folder in folder.withCString { access($0, W_OK | X_OK) } == 0 } ?? NameBytes(".")
  }

  private static func failure(_ folder: NameBytes, _ code: Int32) -> TransferError {
    TransferError(
      code == ENOSPC || code == EDQUOT ? .storeFull : .storeIO, "keep the list while it is checked in", folder,
      cause: systemText(code), remedy: "name another folder with TMPDIR; nothing was recorded")
  }
}
