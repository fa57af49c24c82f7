package import TransferModel
import TransferProtocols

/// The contents of a manifest, and how it could be split.
package struct ManifestAnalysis: Sendable {
  /// Files of one size class: from `atLeast` bytes to the next class.
  package struct SizeClass: Sendable {
    package var atLeast: Int64
    package var totals = ManifestTotals()
  }

  package var totals = ManifestTotals()
  package var classes: [SizeClass]
  package var largest: ManifestTool.ListedFile?
  /// Files whose size is not given.
  package var withoutSize: Int64 = 0
  package var withoutDigest: Int64 = 0

  /// 0, 1 byte, 4 KiB, 64 KiB, 1 MiB … 4 GiB, 64 GiB.
  static let bounds: [Int64] = [0, 1, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20, 4 << 30, 64 << 30]

  init() { classes = Self.bounds.map { SizeClass(atLeast: $0) } }

  /// The recommended number of shards. Each holds at most 250,000 files and 1 TiB, unless one file is larger: some
  /// hours of work for one machine, and a ledger of less than 1 GiB.
  package var shards: Int64 {
    let byFiles = (totals.files + 249_999) / 250_000
    let byBytes = totals.bytes >> 40 + 1
    return min(max(byFiles, byBytes, 1), Int64(ManifestTool.shardCounts.upperBound))
  }

  /// The recommended number of connections, of all tasks together; nil for the automatic choice. Small files wait
  /// longer for their answers than they take to send, so that more requests at the same time help from the start.
  package var workers: Int64? {
    let known = totals.files - withoutSize
    guard known >= 1_000, totals.bytes / known < 1 << 20 else { return nil }
    return 32 * (atOnce ?? 1)
  }

  /// The command that makes the shards; nil for a single one, and if the name cannot be shown as it is.
  package func command(_ manifest: NameBytes) -> String? {
    guard shards > 1, let name = manifest.utf8, ShellText.isShown(manifest.bytes) else { return nil }
    return "transfers manifest shard \(ShellText.shown(name)) --shards \(shards) --into shards/"
  }

  /// The tasks of an array job that should run at the same time; nil for a single shard.
  package var atOnce: Int64? { shards > 1 ? min(shards, 8) : nil }

  mutating func take(_ entry: ManifestEntry) {
    totals.files += 1
    if entry.digests.isEmpty { withoutDigest += 1 }
    guard let size = entry.size else { return withoutSize += 1 }
    totals.bytes +|= size
    let index = classes.lastIndex { $0.atLeast <= size } ?? 0
    classes[index].totals.files += 1
    classes[index].totals.bytes +|= size
    if largest.map({ ($0.size ?? 0) < size }) ?? true {
      largest = ManifestTool.ListedFile(path: entry.path, size: size, digest: entry.digests.first)
    }
  }
}

extension ManifestTool {
  /// - Throws: `.noSource`, `.badList` for a manifest that cannot be read.
  package func analyze(_ path: NameBytes?, _ format: ListFormat?) throws(TransferError) -> ManifestAnalysis {
    var analysis = ManifestAnalysis()
    try read(path, format) { entry throws(TransferError) in analysis.take(entry) }
    return analysis
  }
}
