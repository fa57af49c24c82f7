public import TransferModel

extension LedgerReader {
  /// The identity that a folder of sources had when its files were recorded in the batch; nil if its sources stay, or
  /// if the folder could not be examined. Served by the primary key.
  public func sourceFolder(_ path: NameBytes, of batch: BatchID) throws -> FolderIdentity? {
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
  func noteFolders(_ folders: [NameBytes: FolderIdentity], of batch: BatchID) throws {
    for (path, folder) in folders {
      try db.run(
        """
        INSERT INTO source_folder (batch_id, path, inode, born_ns, device, boot) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT (batch_id, path) DO UPDATE
          SET inode = excluded.inode, born_ns = excluded.born_ns, device = excluded.device, boot = excluded.boot
        WHERE inode <> excluded.inode OR born_ns IS NOT excluded.born_ns OR device <> excluded.device
          OR boot <> excluded.boot
        """, .id(batch), .name(path), .bits(folder.inode), .int(folder.bornNs), .bits(folder.device),
        .bits(folder.boot))
    }
  }
}
