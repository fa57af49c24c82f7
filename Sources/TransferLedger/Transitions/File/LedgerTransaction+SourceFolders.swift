import TransferModel

extension LedgerReader {
  /// The identity that a folder of sources had when its files were recorded in the batch; nil if its sources stay, or
  /// if the folder could not be examined. Served by the primary key.
  package func sourceFolder(_ path: NameBytes, of batch: BatchID) throws -> FolderIdentity? {
    try db.first(
      "SELECT inode, born_ns, device, boot FROM source_folder WHERE batch_id = ? AND path = ?", .id(batch), .name(path)
    ) { row in
      FolderIdentity(inode: row.bits(0), bornNs: row.int64OrNil(1), device: row.bits(2), boot: row.bits(3))
    }
  }
}

extension LedgerTransaction {
  /// Records the folders of files that are being recorded. If a folder has another identity than in its existing row,
  /// the row is updated, because the new files are in the current folder.
  /// - Parameter keeping: folders whose existing rows stay.
  func noteFolders(
    _ folders: [NameBytes: FolderIdentity], of batch: BatchID, keeping: Set<NameBytes> = []
  ) throws {
    for (path, folder) in folders {
      let known = try db.first(Self.folder, .id(batch), .name(path)) { row in
        FolderIdentity(inode: row.bits(0), bornNs: row.int64OrNil(1), device: row.bits(2), boot: row.bits(3))
      }
      guard known != folder, known == nil || !keeping.contains(path) else { continue }
      try db.run(
        known == nil ? Self.insertFolder : Self.updateFolder, .id(batch), .name(path), .bits(folder.inode),
        .int(folder.bornNs), .bits(folder.device), .bits(folder.boot))
    }
  }

  private static let folder: StaticString =
    "SELECT inode, born_ns, device, boot FROM source_folder WHERE batch_id = ? AND path = ?"
  private static let insertFolder: StaticString =
    "INSERT INTO source_folder (batch_id, path, inode, born_ns, device, boot) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
  private static let updateFolder: StaticString = """
    UPDATE source_folder SET inode = ?3, born_ns = ?4, device = ?5, boot = ?6 WHERE batch_id = ?1 AND path = ?2
    """
}
