import FoundationEssentials
import TransferModel
public import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Keeps the files to be fetched on disk until all of them are known to be valid: nothing may be recorded of a list
/// with an invalid last line, and a million files must not be kept in memory. The spool file is anonymous and
/// disappears with the process.
public final class DownloadSpool {
  private struct Record {
    var path: UInt32 = 0
    var key: UInt32 = 0
    var expected: UInt32 = 0
    /// Position in ``origins``.
    var origin: UInt32 = 0
  }

  /// Servers of the files, in order of first appearance.
  public private(set) var origins: [DownloadOrigin] = []
  public private(set) var count = 0
  private var numbers: [DownloadOrigin: UInt32] = [:]
  private let file: UnsafeMutablePointer<FILE>
  private let places: KeyLog
  private let urls: KeyLog
  private let asksForCase: () -> Bool
  /// Whether names that differ only in case are the same file in the target folder.
  private(set) lazy var ignoresCase = asksForCase()
  private var offset: UInt64 = 0
  /// Offsets of entries that repeat an earlier URL and path.
  private var repeats: Set<UInt64> = []
  private var lastFolder: [UInt8] = []

  /// Flag in the offset of a mark: the mark is for a parent folder of the path.
  private static let isFolder: UInt64 = 1 << 63

  /// - Parameter ignoresCase: whether names that differ only in case are the same file in the target folder. Called at
  ///   most once, if there are such names, because the test may create a file there.
  public init(ignoresCase: @escaping () -> Bool) throws(TransferError) {
    asksForCase = ignoresCase
    places = try KeyLog()
    urls = try KeyLog()
    file = try Spooling.open()
  }

  deinit { fclose(file) }

  public func append(_ entry: DownloadEntry) throws(TransferError) {
    try mark(entry.path)
    let url = Array("\(entry.url.origin)/".utf8) + entry.url.key.bytes
    try url.withUnsafeBufferPointer { url throws(TransferError) in
      try urls.append(UnsafeRawBufferPointer(url), at: offset)
    }
    let expected = entry.expected.isEmpty ? [] : Array(((try? JSONEncoder().encode(entry.expected)) ?? Data()))
    var record = Record(
      path: UInt32(entry.path.bytes.count), key: UInt32(entry.url.key.bytes.count), expected: UInt32(expected.count),
      origin: number(of: entry.url.origin))
    let all = entry.path.bytes + entry.url.key.bytes + expected
    let size = MemoryLayout<Record>.stride
    guard fwrite(&record, size, 1, file) == 1, fwrite(all, 1, all.count, file) == all.count else {
      throw Spooling.failure(errno)
    }
    offset += UInt64(size + all.count)
    count += 1
  }

  private func number(of origin: DownloadOrigin) -> UInt32 {
    if let known = numbers[origin] { return known }
    let number = UInt32(origins.count)
    origins.append(origin)
    numbers[origin] = number
    return number
  }

  // MARK: - Duplicate names

  private func mark(_ path: NameBytes) throws(TransferError) {
    let name = Self.folded(path)
    try name.withUnsafeBufferPointer { name throws(TransferError) in
      try places.append(UnsafeRawBufferPointer(name), at: offset)
    }
    guard let slash = name.lastIndex(of: 0x2F), !name[..<slash].elementsEqual(lastFolder) else { return }
    lastFolder = Array(name[..<slash])
    for end in name[...slash].indices where name[end] == 0x2F {
      try name[..<end].withUnsafeBufferPointer { folder throws(TransferError) in
        try places.append(UnsafeRawBufferPointer(folder), at: offset | Self.isFolder)
      }
    }
  }

  private static func folded(_ path: NameBytes) -> [UInt8] { path.caseFolded.bytes }

  private func isSameFile(_ path: NameBytes, _ other: NameBytes) -> Bool {
    path == other || (Self.folded(path) == Self.folded(other) && ignoresCase)
  }

  private func isFolder(_ folder: NameBytes, of path: NameBytes) -> Bool {
    if path.bytes.starts(with: folder.bytes + [0x2F]) { return true }
    return Self.folded(path).starts(with: Self.folded(folder) + [0x2F]) && ignoresCase
  }

  /// - Parameter isForLedger: whether the files are to be recorded: a ledger has only one row for each URL in a folder.
  /// - Throws: `.usage` if a file has two sources, or if other files need it as a folder.
  public func check(isForLedger: Bool = true) throws(TransferError) {
    guard fflush(file) == 0 else { throw Spooling.failure(errno) }
    if isForLedger { try checkURLs() }
    try places.forEachGroup { group throws(TransferError) in
      guard group.contains(where: { $0.offset & Self.isFolder == 0 }) else { return }
      let files = try distinct(group)
      for mark in group where mark.offset & Self.isFolder != 0 {
        let below = try entry(at: mark.offset & ~Self.isFolder)
        guard let other = files.first(where: { isFolder($0.path, of: below.path) }) else { continue }
        throw Self.fault(below, other, "one would be a file, and the other is in a folder of this name")
      }
    }
  }

  /// - Throws: `.usage` if one URL has several names.
  private func checkURLs() throws(TransferError) {
    try urls.forEachGroup { group throws(TransferError) in
      var known: [DownloadEntry] = []
      for mark in group {
        let new = try entry(at: mark.offset)
        if let same = known.first(where: { $0.url == new.url && $0.path != new.path }) {
          throw Self.fault(new, same, "it is also listed as \"\(same.path.embedded)\"")
        }
        if !known.contains(where: { $0.url == new.url }) { known.append(new) }
      }
    }
  }

  /// The files of a group, each URL once; different names with equal hashes are kept.
  private func distinct(_ group: ArraySlice<KeyLog.Mark>) throws(TransferError) -> [DownloadEntry] {
    var known: [DownloadEntry] = []
    for mark in group where mark.offset & Self.isFolder == 0 {
      let new = try entry(at: mark.offset)
      guard let same = known.first(where: { isSameFile($0.path, new.path) }) else {
        known.append(new)
        continue
      }
      guard same.url == new.url, same.path == new.path, same.expected == new.expected else {
        let isSame = same.path == new.path
        throw Self.fault(
          new, same,
          isSame ? "both would be this file" : "the file system of the target folder does not distinguish their names")
      }
      repeats.insert(mark.offset)
    }
    return known
  }

  private static func fault(_ entry: DownloadEntry, _ other: DownloadEntry, _ cause: String) -> TransferError {
    let isSame = entry.url == other.url
    let urls = isSame ? "\(entry.url), named twice" : "\(other.url) and \(entry.url)"
    let remedy =
      if !isSame {
        "give them different paths, or pull them into different folders"
      } else if entry.path == other.path {
        "list it once"
      } else {
        "list it once, and copy the file afterwards"
      }
    return TransferError(
      .usage, "add", entry.path, cause: "\(urls): \(cause)", remedy: "\(remedy); nothing was recorded")
  }

  // MARK: - Reading

  /// Passes all entries once, a page at a time, in their original order. `body` must not use the spool otherwise.
  /// - Returns: the number of duplicates.
  public func replay(
    pageSize: Int = 2_000, _ body: ([DownloadEntry]) throws(TransferError) -> Void
  ) throws(TransferError) -> Int {
    try seek(to: 0)
    var (position, page): (UInt64, [DownloadEntry]) = (0, [])
    while position < offset {
      let (entry, length) = try next()
      if !repeats.contains(position) { page.append(entry) }
      position += UInt64(length)
      if page.count == pageSize || position == offset, !page.isEmpty {
        try body(page)
        page.removeAll(keepingCapacity: true)
      }
    }
    return repeats.count
  }

  private func entry(at offset: UInt64) throws(TransferError) -> DownloadEntry {
    try seek(to: offset)
    return try next().entry
  }

  private func seek(to offset: UInt64) throws(TransferError) {
    guard fseeko(file, off_t(offset), SEEK_SET) == 0 else { throw Spooling.failure(errno) }
  }

  private func next() throws(TransferError) -> (entry: DownloadEntry, length: Int) {
    var record = Record()
    let size = MemoryLayout<Record>.stride
    guard fread(&record, size, 1, file) == 1 else { throw Spooling.failure(EIO) }
    let (path, key) = (Int(record.path), Int(record.path + record.key))
    var all = [UInt8](repeating: 0, count: key + Int(record.expected))
    guard fread(&all, 1, all.count, file) == all.count else { throw Spooling.failure(EIO) }
    let text = Data(all[key...])
    let expected = text.isEmpty ? nil : try? JSONDecoder().decode(ExpectedContent.self, from: text)
    let url = DownloadURL(origins[Int(record.origin)], key: NameBytes(Array(all[path..<key])))
    let entry = DownloadEntry(
      url: url, path: NameBytes(Array(all[..<path])), expected: expected ?? ExpectedContent())
    return (entry, size + all.count)
  }
}
