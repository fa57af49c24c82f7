import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One shard while it is being written, under a temporary name. The file is removed with this value unless it is
/// placed.
final class ShardFile {
  private static let bufferSize = 64 << 10

  let name: String
  private let folder: String
  private let descriptor: Int32
  private var writer = ManifestWriter(.jsonl)
  private var buffer: [UInt8]
  private var size = 0
  private var digest = RunningDigest(.sha256)
  private var isPlaced = false

  init(_ name: String, in folder: String) throws(TransferError) {
    (self.name, self.folder, buffer) = (name, folder, writer.beginning)
    descriptor = open("\(folder)/.\(name).part", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard descriptor >= 0 else { throw ShardSet.failure("make", part) }
  }

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    abandon()
  }

  /// Removes the file if it has not been placed yet.
  func abandon() {
    if !isPlaced { unlink(part) }
    isPlaced = true
  }

  private var part: String { "\(folder)/.\(name).part" }

  var totals: ManifestTotals { ManifestTotals(files: writer.files, bytes: writer.bytes) }

  /// Returns the line.
  func write(_ entry: ManifestEntry) throws(TransferError) -> [UInt8] {
    let line = try writer.line(entry)
    buffer += line
    if buffer.count >= Self.bufferSize { try flush() }
    return line
  }

  /// Completes the shard; its content is durable on return.
  func seal() throws(TransferError) {
    buffer += writer.end
    try flush()
    guard fsync(descriptor) == 0 else { throw ShardSet.failure("write", part) }
  }

  func place() throws(TransferError) -> WrittenShard {
    guard rename(part, "\(folder)/\(name)") == 0 else { throw ShardSet.failure("rename", part) }
    isPlaced = true
    return WrittenShard(name: name, totals: totals, size: Int64(size), sha256: hexText(digest.finish().bytes))
  }

  private func flush() throws(TransferError) {
    guard FileText.write(buffer, to: descriptor, at: size) else { throw ShardSet.failure("write", part) }
    buffer.withUnsafeBytes { digest.update($0) }
    size += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }
}

/// The index of a set of shards: JSON with one shard per line, so that a shell can read it too.
enum ShardIndex {
  static let schema = "transfers.shards/1"

  /// - Parameters:
  ///   - manifest: SHA-256 of the manifest as `manifest convert --to jsonl` writes it.
  ///   - failed: how many files could not be listed; if not 0, the set is incomplete.
  static func text(
    _ shards: [WrittenShard], manifest: String, files: Int64, bytes: Int64, failed: Int64
  ) -> [UInt8] {
    let lines = shards.map { shard in
      """
      {"shard":"\(shard.name)","files":\(shard.totals.files),"bytes":\(shard.totals.bytes),\
      "lines":\(shard.totals.files + 2),"size":\(shard.size),"sha256":"\(shard.sha256)"}
      """
    }
    let head = """
      {"set":"\(schema)","manifest_sha256":"\(manifest)","files":\(files),"bytes":\(bytes),"failed":\(failed),\
      "count":\(shards.count),"shards":[
      """
    return Array((head + "\n" + lines.joined(separator: ",\n") + "\n]}\n").utf8)
  }
}
