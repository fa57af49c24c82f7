import TransferEngine
import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A folder of shards while it is being written. If the process is killed, the folder has no index, so that it is not
/// taken for a complete set.
final class ShardSet {
  let folder: String
  private let isMade: Bool
  private let keepsWhole: Bool
  private var isKept = false
  private var opened = 0
  private var unplaced: [ShardFile] = []
  private var placed: [WrittenShard] = []
  private var manifest = RunningDigest(.sha256)
  private var totals = ManifestWriter(.jsonl)

  static let indexName = "shards.json"

  /// - Parameter keepsWhole: keeps shards that have their final names if the set fails.
  init(_ folder: NameBytes, keepsWhole: Bool = false) throws(TransferError) {
    guard let text = folder.utf8, !text.isEmpty else {
      throw TransferError(.usage, "make folder", folder, cause: "its name is not UTF-8", remedy: "choose another name")
    }
    (self.folder, self.keepsWhole) = (text, keepsWhole)
    isMade = mkdir(text, 0o777) == 0
    guard isMade || errno == EEXIST else { throw Self.failure("make folder", text) }
    if !isMade { try Self.checkEmpty(text) }
    digest(totals.beginning)
  }

  deinit {
    guard !isKept else { return }
    for file in unplaced { file.abandon() }
    if !keepsWhole { for shard in placed { unlink("\(folder)/\(shard.name)") } }
    if isMade { rmdir(folder) }
  }

  func open(_ count: Int) throws(TransferError) -> [ShardFile] {
    var files: [ShardFile] = []
    for _ in 0..<count { files.append(try openNext(of: count)) }
    return files
  }

  /// - Throws: `.badList` when there would be more shards than allowed.
  func openNext(of count: Int = 0) throws(TransferError) -> ShardFile {
    opened += 1
    guard opened <= ManifestTool.shardCounts.upperBound else {
      throw TransferError(
        .badList, "write shards into", NameBytes(folder), cause: "there are more than \(opened - 1) shards",
        remedy: "make them larger")
    }
    let digits = String(opened)
    let width = max(3, String(count).utf8.count)
    let zeros = String(repeating: "0", count: max(0, width - digits.utf8.count))
    let file = try ShardFile("shard-\(zeros)\(digits).jsonl", in: folder)
    unplaced.append(file)
    return file
  }

  /// Includes a line of a shard in the digest of the manifest.
  func count(_ line: [UInt8]) { digest(line) }

  private func digest(_ bytes: [UInt8]) { bytes.withUnsafeBytes { manifest.update($0) } }

  /// Gives a sealed shard its name; durable on return if ``keepsWhole``, otherwise together with the set.
  @discardableResult
  func place(_ file: ShardFile) throws(TransferError) -> WrittenShard {
    let shard = try file.place()
    unplaced.removeAll { $0 === file }
    placed.append(shard)
    if keepsWhole { try sync() }
    return shard
  }

  /// Writes the index after everything else is durable.
  /// - Parameter failed: how many files could not be listed, and so are in no shard.
  func keep(failed: Int64 = 0) throws(TransferError) -> [WrittenShard] {
    try sync()
    let files = placed.reduce(0) { $0 + $1.totals.files }
    let bytes = placed.reduce(Int64(0)) { $0 +| $1.totals.bytes }
    digest(ManifestWriter.end(files: files, bytes: bytes))
    let text = ShardIndex.text(
      placed, manifest: hexText(manifest.finish().bytes), files: files, bytes: bytes, failed: failed)
    try Self.put(text, "\(folder)/\(Self.indexName)", through: "\(folder)/.\(Self.indexName).part")
    isKept = true
    try sync()
    return placed
  }

  private func sync() throws(TransferError) {
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, syncFolderNames(descriptor) == 0 else { throw Self.failure("sync folder", folder) }
  }

  /// Requires an empty folder, because a shard of another set would be mistaken for one of these.
  private static func checkEmpty(_ folder: String) throws(TransferError) {
    guard let names = names(in: folder) else { throw failure("read folder", folder) }
    guard names.isEmpty else {
      throw TransferError(
        .usage, "write shards into", NameBytes(folder), cause: "the folder is not empty",
        remedy: "choose a new or empty folder; one without \(indexName) contains an incomplete set")
    }
  }

  /// The names in a folder; nil, with `errno` set, when it cannot be read.
  static func names(in folder: String) -> [String]? {
    guard let listing = opendir(folder) else { return nil }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { raw in
        String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Writes a file durably, or not at all. `part` is its name until it is complete.
  static func put(
    _ bytes: [UInt8], _ path: String, through part: String, mode: mode_t = 0o666
  ) throws(TransferError) {
    unlink(part)
    let descriptor = Glibc.open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, FileText.write(bytes, to: descriptor, at: 0), fsync(descriptor) == 0,
      rename(part, path) == 0
    else {
      let error = failure("write", path)
      unlink(part)
      throw error
    }
  }

  /// The error of the last system call.
  static func failure(_ operation: String, _ path: String) -> TransferError {
    let code = errno
    let isName = [ENOENT, ENOTDIR, EACCES, EROFS, ENAMETOOLONG, ELOOP].contains(code)
    let remedy =
      switch code {
      case ENOSPC, EDQUOT: "free space and run it again"
      case EMFILE: "raise the limit of open files (ulimit -n), or make fewer shards"
      default: isName ? "choose another folder" : "run it again"
      }
    return TransferError(
      isName ? .usage : .output, operation, NameBytes(path), cause: systemText(code), remedy: remedy)
  }
}

extension TransferError.Kind {
  /// A result could not be written: the disk, or a limit of the process.
  static let output = TransferError.Kind(rawValue: "output")
}
