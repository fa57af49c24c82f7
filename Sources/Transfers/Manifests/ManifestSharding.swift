import TransferEngine
package import TransferModel
import TransferProtocols

/// The measure by which a manifest is split into shards.
package enum ShardMeasure: String, Sendable, CaseIterable {
  case bytes, files
}

/// When a shard is full while the manifest is still being read: with the file that reaches a limit. nil means no limit.
package struct ShardLimit: Sendable, Hashable {
  package var files, bytes: Int64?

  package init(files: Int64?, bytes: Int64?) { (self.files, self.bytes) = (files, bytes) }
}

/// One part of a manifest that was split.
package struct WrittenShard: Sendable, Hashable {
  /// The name of its file, without the folder.
  package var name: String
  package var totals: ManifestTotals
  /// The size of its file in bytes, and the SHA-256 of its content.
  var size: Int64
  var sha256: String
}

/// What is split.
package enum ShardSource: Sendable {
  /// nil is standard input.
  case manifest(NameBytes?, ListFormat?)
  /// The files of a folder, while it is scanned, each with these digests.
  case folder(NameBytes, digests: [String])
}

extension ManifestTool {
  /// How many shards there may be.
  package static let shardCounts = ManifestShards.counts

  /// Splits a manifest into files `shard-001.jsonl` and so on in a new or empty folder, and writes `shards.json` last
  /// (``ShardIndex``): a folder without it is not a complete set. The same manifest always gives the same shards. All
  /// files are durable on return; if it fails, nothing is left in the folder.
  /// - Throws: `.noSource`, `.badList` for a manifest that cannot be read, or has a path or a key twice, which two
  ///   engines would transfer at the same time; `.usage` for a folder that is not empty; `.output` for files that
  ///   cannot be written.
  package func shard(
    _ path: NameBytes?, _ format: ListFormat?, into folder: NameBytes, count: Int, by measure: ShardMeasure
  ) throws(TransferError) -> [WrittenShard] {
    let set = try ShardSet(folder)
    let files = try set.open(count)
    var shards = ManifestShards(count, by: measure == .bytes ? .bytes : .files)
    try readDistinct(path, format) { entry throws(TransferError) in
      set.count(try files[shards.take(size: entry.size)].write(entry))
    }
    for file in files { try file.seal() }
    for file in files { try set.place(file) }
    return try set.keep()
  }

  /// The same while the manifest is still being read or the folder scanned: each shard is durable and has its name as
  /// soon as it is full, and only one is open at a time. If it fails, complete shards are kept, without `shards.json`.
  /// - Returns: the shards, and how many files of a folder could not be listed.
  /// - Throws: as ``shard(_:_:into:count:by:)``; `.badList` for more shards than allowed; `.usage` if `folder` is
  ///   inside the folder to be scanned; `.noSource` if the folder to be scanned does not exist.
  package func shardLive(
    _ source: ShardSource, into folder: NameBytes, upTo limit: ShardLimit, placed: @escaping (WrittenShard) -> Void
  ) throws(TransferError) -> (shards: [WrittenShard], failed: Int64) {
    if case .folder(let listed, _) = source { try Self.check(folder, isOutside: listed) }
    let set = try ShardSet(folder, keepsWhole: true)
    var current: ShardFile?
    func close() throws(TransferError) {
      guard let file = current else { return }
      try file.seal()
      placed(try set.place(file))
      current = nil
    }
    func take(_ entry: ManifestEntry) throws(TransferError) {
      if current == nil { current = try set.openNext() }
      guard let file = current else { return }
      set.count(try file.write(entry))
      let isFull = limit.files.map { file.totals.files >= $0 } ?? false
      if isFull || limit.bytes.map({ file.totals.bytes >= $0 }) ?? false { try close() }
    }
    var failed: Int64 = 0
    switch source {
    case .manifest(let path, let format): try readDistinct(path, format, take)
    case .folder(let folder, let digests): failed = try scan(folder, digests, take)
    }
    try close()
    return (try set.keep(failed: failed), failed)
  }

  /// - Throws: `.badList`, after all lines were read, if a path or a key occurs twice.
  func readDistinct(
    _ path: NameBytes?, _ format: ListFormat?, moved: (ManifestEntry) -> NameBytes = { $0.path },
    _ body: (ManifestEntry) throws(TransferError) -> Void
  ) throws(TransferError) {
    var distinct = try DistinctEntries()
    try read(path, format) { entry throws(TransferError) in
      try distinct.take(entry, at: moved(entry))
      try body(entry)
    }
    try distinct.check(path)
  }

  /// Refuses a folder inside the scanned one, because the scan would list the shards that it writes.
  private static func check(_ parts: NameBytes, isOutside folder: NameBytes) throws(TransferError) {
    guard FolderPlace.isFolder(folder) else {
      throw TransferError(
        .noSource, "read folder", folder, cause: "there is no such folder", remedy: "give --from a folder")
    }
    guard FolderPlace.isInside(parts, folder) else { return }
    throw TransferError(
      .usage, "write shards into", parts, cause: "it is inside \"\(folder.embedded)\", which is listed",
      remedy: "choose a folder outside of it")
  }

  private func scan(
    _ folder: NameBytes, _ digests: [String], _ take: @escaping (ManifestEntry) throws(TransferError) -> Void
  ) throws(TransferError) -> Int64 {
    let algorithms = try Self.algorithms(digests)
    let found = try SourceSelection([folder], rules: PathRules([])).resolve()
    return Int64(try ManifestScan(digests: algorithms, leavesOut: ownFiles, notice: notice).read(found, take).failed)
  }
}
