import TransferEngine
import TransferModel
import TransferProtocols

/// Finds files of a manifest with the same path, and uploads with the same key, which two engines would transfer at the
/// same time. What it has seen is on disk.
struct DistinctEntries {
  private let paths: RepeatedPaths
  /// Keys of all files, where the path serves for one without a key; nil as long as no file has one.
  private var keys: RepeatedPaths?

  init() throws(TransferError) { paths = try RepeatedPaths() }

  /// - Parameter path: that of the entry, or the one that it is moved to.
  mutating func take(_ entry: ManifestEntry, at path: NameBytes) throws(TransferError) {
    // What has a URL is fetched, and its key is a column of another program.
    if entry.key != nil, !entry.isElsewhere, keys == nil { keys = try paths.copy() }
    try keys?.take(entry.isElsewhere ? path : entry.key ?? path, line: entry.line)
    try paths.take(path, line: entry.line)
  }

  /// - Throws: `.badList` if a path or a key occurs twice.
  func check(_ manifest: NameBytes?) throws(TransferError) {
    func fault(_ cause: String, _ remedy: String) -> TransferError {
      TransferError(
        .badList, "read manifest", manifest ?? NameBytes("standard input"), cause: cause, remedy: remedy)
    }
    if let again = try paths.first() {
      throw fault(
        "line \(again.line): \"\(again.path.embedded)\" is in line \(again.earlier), too", "list each file once")
    }
    if let again = try keys?.first() {
      throw fault(
        "line \(again.line): the key \"\(again.path.embedded)\" is that of line \(again.earlier), too",
        "give each file a key of its own")
    }
  }
}
