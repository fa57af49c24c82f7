import TransferLedger
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Keeps the files of a scan on disk until the request is known to be valid: nothing may be recorded of a list with an
/// invalid last line, and a million files must not be kept in memory. The spool file is anonymous and disappears with
/// the process.
final class SourceSpool: FileSink {
  private struct Record {
    var pathCount: UInt32
    var keyCount: UInt32
    var mode: UInt32
    /// Position in ``failures``; -1 for a file that can be sent.
    var failure: Int32
    /// Position in ``properties``; -1 for none.
    var properties: Int32
    /// 1 for ``NewFile/isCompared``.
    var isCompared: UInt32
    /// How much of the path may lead through symbolic links.
    var root: UInt32
    var identity: SourceIdentity

    static let none = Record(
      pathCount: 0, keyCount: 0, mode: 0, failure: -1, properties: -1, isCompared: 0, root: 0,
      identity: SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0))
  }

  private let file: UnsafeMutablePointer<FILE>
  /// nil if there can be no duplicates.
  private let keys: KeyLog?
  private var offset: UInt64 = 0
  /// One bit for each file of the scan that repeats an earlier path and key; empty if none does.
  private var repeats: [UInt64] = []
  /// The distinct failures, because a million files may be missing for the same reason.
  private var failures: [Failure] = []
  private var failureNumbers: [String: Int32] = [:]
  /// The distinct properties of objects.
  private var properties: [ObjectProperties] = []
  private var propertyNumbers: [ObjectProperties: Int32] = [:]

  /// - Parameter watchesKeys: whether a file can occur twice, or files with different paths can have the same key:
  ///   ``check()`` finds both.
  init(watchesKeys: Bool) throws(TransferError) {
    keys = watchesKeys ? try KeyLog() : nil
    file = try Spooling.open()
  }

  deinit { fclose(file) }

  func take(_ found: FoundFile) throws(TransferError) {
    try keys?.append(found.key, at: offset)
    let record = Record(
      pathCount: UInt32(found.path.count), keyCount: UInt32(found.key.count), mode: found.mode, failure: -1,
      properties: found.properties.map(number) ?? -1, isCompared: found.isCompared ? 1 : 0, root: UInt32(found.root),
      identity: found.identity)
    try write(record, found.path, found.key)
  }

  func refuse(path: NameBytes, key: NameBytes, _ failure: Failure) throws(TransferError) {
    let name = "\(failure.code.rawValue) \(failure.message)"
    let number = failureNumbers[name] ?? Int32(failures.count)
    if number == failures.count { failures.append(failure) }
    failureNumbers[name] = number
    var record = Record.none
    (record.pathCount, record.keyCount) = (UInt32(path.bytes.count), UInt32(key.bytes.count))
    record.failure = number
    try path.bytes.withUnsafeBufferPointer { path throws(TransferError) in
      try key.bytes.withUnsafeBufferPointer { key throws(TransferError) in
        try write(record, UnsafeRawBufferPointer(path), UnsafeRawBufferPointer(key))
      }
    }
  }

  private func number(_ set: ObjectProperties) -> Int32 {
    if let known = propertyNumbers[set] { return known }
    propertyNumbers[set] = Int32(properties.count)
    properties.append(set)
    return Int32(properties.count - 1)
  }

  private func write(_ record: Record, _ path: BorrowedName, _ key: BorrowedName) throws(TransferError) {
    var record = record
    let size = MemoryLayout<Record>.stride
    let written =
      fwrite(&record, size, 1, file) == 1 && Self.write(path, file) && Self.write(key, file)
    guard written else { throw Spooling.failure(errno) }
    offset += UInt64(size + path.count + key.count)
  }

  private static func write(_ bytes: BorrowedName, _ file: UnsafeMutablePointer<FILE>) -> Bool {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return true }
    return fwrite(start, 1, bytes.count, file) == bytes.count
  }

  /// - Throws: `.usage` if two files have the same key; reports the first duplicate.
  func check() throws(TransferError) {
    guard let keys else { return }
    guard fflush(file) == 0 else { throw Spooling.failure(errno) }
    var first: (number: UInt64, error: TransferError)?
    try keys.forEachGroup { group throws(TransferError) in
      guard let found = try collision(in: group), found.number < first?.number ?? .max else { return }
      first = found
    }
    if let first { throw first.error }
  }

  /// Compares each with the distinct names before it, which are few: most are duplicates.
  private func collision(
    in group: ArraySlice<KeyLog.Mark>
  ) throws(TransferError) -> (number: UInt64, error: TransferError)? {
    var known: [(path: NameBytes, key: NameBytes)] = []
    for mark in group {
      let names = try names(at: mark.offset)
      guard let same = known.first(where: { $0.key == names.key }) else {
        known.append(names)
        continue
      }
      if same.path != names.path { return (mark.number, .sameKey(names.path, same.path, names.key)) }
      markRepeat(Int(mark.number))
    }
    return nil
  }

  private func markRepeat(_ number: Int) {
    if number / 64 >= repeats.count { repeats += Array(repeating: 0, count: number / 64 + 1 - repeats.count) }
    repeats[number / 64] |= 1 << UInt64(number % 64)
  }

  private func isRepeat(_ number: Int) -> Bool {
    number / 64 < repeats.count && repeats[number / 64] & 1 << UInt64(number % 64) != 0
  }

  /// Passes everything to another sink, in the original order; without `repeats` duplicates are left out.
  /// - Returns: the number of duplicates.
  @discardableResult
  func replay(into sink: some FileSink, repeats keepsRepeats: Bool = true) throws(TransferError) -> Int {
    guard fseeko(file, 0, SEEK_SET) == 0 else { throw Spooling.failure(errno) }
    var names: [UInt8] = []
    var (number, again) = (-1, 0)
    while let record = try next(&names) {
      let middle = Int(record.pathCount)
      if record.failure >= 0 {
        let (path, key) = (NameBytes(Array(names[..<middle])), NameBytes(Array(names[middle...])))
        try sink.refuse(path: path, key: key, failures[Int(record.failure)])
        continue
      }
      number += 1
      if isRepeat(number) {
        again += 1
        if !keepsRepeats { continue }
      }
      try names.withUnsafeBufferPointer { names throws(TransferError) in
        let bytes = UnsafeRawBufferPointer(names)
        try sink.take(
          FoundFile(
            path: UnsafeRawBufferPointer(rebasing: bytes[..<middle]), root: Int(record.root),
            key: UnsafeRawBufferPointer(rebasing: bytes[middle...]), identity: record.identity, mode: record.mode,
            properties: record.properties < 0 ? nil : properties[Int(record.properties)],
            isCompared: record.isCompared != 0))
      }
    }
    return again
  }

  private func names(at offset: UInt64) throws(TransferError) -> (path: NameBytes, key: NameBytes) {
    var record = Record.none
    let size = MemoryLayout<Record>.stride
    guard pread(fileno(file), &record, size, off_t(offset)) == size else { throw Spooling.failure(EIO) }
    let middle = Int(record.pathCount)
    var names = [UInt8](repeating: 0, count: middle + Int(record.keyCount))
    guard pread(fileno(file), &names, names.count, off_t(offset) + off_t(size)) == names.count else {
      throw Spooling.failure(EIO)
    }
    return (NameBytes(Array(names[..<middle])), NameBytes(Array(names[middle...])))
  }

  /// nil at the end.
  private func next(_ names: inout [UInt8]) throws(TransferError) -> Record? {
    var record = Record.none
    guard fread(&record, MemoryLayout<Record>.stride, 1, file) == 1 else {
      if ferror(file) != 0 { throw Spooling.failure(errno) }
      return nil
    }
    let count = Int(record.pathCount) + Int(record.keyCount)
    if names.count != count { names = [UInt8](repeating: 0, count: count) }
    guard fread(&names, 1, count, file) == count else { throw Spooling.failure(EIO) }
    return record
  }
}
