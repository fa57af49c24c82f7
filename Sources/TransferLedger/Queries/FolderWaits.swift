public import TransferModel

/// Removals that were put off for what is wrong with the folder of their sources or its file system.
public struct FolderWait: Sendable, Hashable {
  public var folder: NameBytes
  /// The first of them that nothing else holds up; nil if there is none.
  public var due: DueRemoval?
}

extension LedgerReader {
  private static let waitsAtOnce = 100

  /// The next folder after `folder`, in the order of their bytes, that removals wait for. However many these are, one
  /// shows whether an engine can do something about them. Served by the index `removal_folder`.
  public func nextFolderWait(after folder: NameBytes?) throws -> FolderWait? {
    let next = try db.first(
      "SELECT waits_for FROM removal WHERE waits_for > ? ORDER BY waits_for LIMIT 1", .name(folder ?? NameBytes(""))
    ) { $0.name(0) }
    guard let next else { return nil }
    var last: FileID?
    while true {
      let page = try db.rows(
        "SELECT file_id FROM removal WHERE waits_for = ? AND file_id > ? ORDER BY file_id LIMIT ?", .name(next),
        .integer(last?.rawValue ?? 0), .int(Self.waitsAtOnce)
      ) { $0.id(0, FileID.self) }
      for file in page {
        if let due = try db.dueRemoval(file) { return FolderWait(folder: next, due: due) }
      }
      guard let final = page.last else { return FolderWait(folder: next, due: nil) }
      last = final
    }
  }
}
