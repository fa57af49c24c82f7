import TransferEngine
package import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How a manifest is cut into shards.
package enum ShardMeasure: String, Sendable, CaseIterable {
  case bytes, files
}

/// One part of a manifest that was cut.
package struct WrittenShard: Sendable, Hashable {
  /// Of its file, without the folder.
  package var name: String
  package var totals: ManifestTotals
}

extension ManifestTool {
  /// How many shards there may be.
  package static let shardCounts = ManifestShards.counts

  /// Cuts a manifest into files `shard-001.jsonl` and so on in a folder, which is made, or is empty. The same manifest
  /// gives the same shards. All are durable on return; nothing is left in the folder when it fails.
  /// - Throws: `.noSource`, `.badList` for a manifest that cannot be read; `.usage` for a folder with files in it, or
  ///   one that cannot be written.
  package func shard(
    _ path: NameBytes?, _ format: ListFormat?, into folder: NameBytes, count: Int, by measure: ShardMeasure
  ) throws(TransferError) -> [WrittenShard] {
    let files = try ShardFiles(folder, count: count)
    var shards = ManifestShards(count, by: measure == .bytes ? .bytes : .files)
    try read(path, format) { entry throws(TransferError) in
      try files.write(entry, to: shards.take(size: entry.size))
    }
    return try files.keep()
  }
}

/// The files of shards while they are written, under names of their own.
private final class ShardFiles {
  private static let bufferSize = 64 << 10

  private struct Open {
    var name: String
    var descriptor: Int32
    var writer = ManifestWriter(.jsonl)
    var buffer: [UInt8]
  }

  private let folder: String
  private var open: [Open] = []
  private var isKept = false
  private let isMade: Bool

  init(_ folder: NameBytes, count: Int) throws(TransferError) {
    guard let text = folder.utf8, !text.isEmpty else {
      throw TransferError(.usage, "make folder", folder, cause: "its name is not UTF-8", remedy: "choose another name")
    }
    self.folder = text
    isMade = mkdir(text, 0o777) == 0
    if !isMade { try Self.checkEmpty(text) }
    let width = max(3, String(count).utf8.count)
    for number in 1...count {
      let digits = String(number)
      let name = "shard-\(String(repeating: "0", count: width - digits.utf8.count))\(digits).jsonl"
      let descriptor = Glibc.open("\(text)/.\(name).part", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
      guard descriptor >= 0 else { throw failure("make", name) }
      var file = Open(name: name, descriptor: descriptor, buffer: [])
      file.buffer = file.writer.beginning
      open.append(file)
    }
  }

  deinit {
    for file in open where file.descriptor >= 0 { close(file.descriptor) }
    guard !isKept else { return }
    for file in open {
      unlink("\(folder)/.\(file.name).part")
      unlink("\(folder)/\(file.name)")
    }
    if isMade { rmdir(folder) }
  }

  func write(_ entry: ManifestEntry, to shard: Int) throws(TransferError) {
    open[shard].buffer += try open[shard].writer.line(entry)
    if open[shard].buffer.count >= Self.bufferSize { try flush(shard) }
  }

  /// Makes all durable, under their names.
  func keep() throws(TransferError) -> [WrittenShard] {
    for shard in open.indices {
      open[shard].buffer += open[shard].writer.end
      try flush(shard)
      guard fsync(open[shard].descriptor) == 0 else { throw failure("write", open[shard].name) }
      close(open[shard].descriptor)
      open[shard].descriptor = -1
    }
    for file in open where rename("\(folder)/.\(file.name).part", "\(folder)/\(file.name)") != 0 {
      throw failure("rename", file.name)
    }
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, fsync(descriptor) == 0 else { throw failure("write", "") }
    isKept = true
    return open.map { file in
      WrittenShard(name: file.name, totals: ManifestTotals(files: file.writer.files, bytes: file.writer.bytes))
    }
  }

  private func flush(_ shard: Int) throws(TransferError) {
    let bytes = open[shard].buffer
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { raw in
        Glibc.write(open[shard].descriptor, raw.baseAddress! + done, raw.count - done)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("write", open[shard].name) }
      done += count
    }
    open[shard].buffer.removeAll(keepingCapacity: true)
  }

  /// A shard of another cut beside these would be taken for one of them.
  private static func checkEmpty(_ folder: String) throws(TransferError) {
    guard let listing = opendir(folder) else {
      throw TransferError(
        .usage, "make folder", NameBytes(folder), cause: String(cString: strerror(errno)), remedy: "choose another one")
    }
    defer { closedir(listing) }
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { raw in
        String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name == "." || name == ".." else {
        throw TransferError(
          .usage, "write shards into", NameBytes(folder), cause: "the folder is not empty",
          remedy: "choose a new or an empty folder")
      }
    }
  }

  private func failure(_ operation: String, _ name: String) -> TransferError {
    let code = errno
    let isFull = code == ENOSPC || code == EDQUOT
    return TransferError(
      .usage, operation, NameBytes("\(folder)/\(name)"), cause: String(cString: strerror(code)),
      remedy: isFull
        ? "free space and run it again"
        : code == EMFILE ? "raise the limit of open files (ulimit -n)" : "check the folder")
  }
}
