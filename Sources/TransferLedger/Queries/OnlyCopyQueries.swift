import TransferModel

/// Objects at a destination that may be the only copies of what was sent.
extension LedgerReader {
  /// The done file whose object another file with its key would replace, if its source was deleted or may have been:
  /// nil if `path` is its own, which is then a newer version, and if a person gave it up (`rm`). What the batch of the
  /// file is to do with its sources now does not matter, nor whether the file is hidden.
  ///
  /// A path that leads through a symbolic link which was replaced since the file was recorded, to another folder, is
  /// not its own.
  /// - Parameter destination: nil if the ledger has none of this place yet.
  /// - Parameter live: the live row of the key; nil if there is none.
  /// - Parameter linked: the folder of `path`, if it is reached through symbolic links.
  /// - Parameter rivals: other destinations that may have the same object.
  func onlyCopy(
    at destination: Int64?, _ live: ExistingFile?, path: NameBytes, key: NameBytes, linked: LinkedFolder?,
    _ rivals: Rivals? = nil
  ) throws -> OnlyCopy? {
    if let destination, live?.isSamePath != true || linked != nil,
      let done = try live?.state == .done ? live?.id : newestDone(destination, key),
      let only = try onlyCopy(done, path, linked), try rivals == nil || !isOverwritten(done)
    {
      return only
    }
    for done in try rivals?.done(key, db) ?? [] {
      if let only = try onlyCopy(done, path, linked), try !isOverwritten(done) { return only }
    }
    return nil
  }

  private func onlyCopy(_ done: FileID, _ path: NameBytes, _ linked: LinkedFolder?) throws -> OnlyCopy? {
    let found = try db.first(Self.deletedSource, .id(done), .name(path), .int(linked?.linkedMs)) {
      row throws(SQLiteError) in
      let only = OnlyCopy(file: row.id(0), path: row.name(1), removal: try row.named(2), isSamePath: row.flag(3))
      return (only, batch: row.id(4, BatchID.self))
    }
    guard let (only, batch) = found else { return nil }
    let known = only.isSamePath ? try sourceFolder(path.parentFolder, of: batch) : nil
    return known != nil && known?.inode == linked?.inode ? nil : only
  }

  /// The same for a source of a plan, whose key is at this place.
  package func onlyCopy(
    place: String, _ objects: ObjectPlace? = nil, path: NameBytes, key: NameBytes, linked: LinkedFolder? = nil
  ) throws -> OnlyCopy? {
    let (home, rivals) = (try db.destination(at: place), try Rivals(of: objects, at: place, db))
    let live = try home.flatMap { home in
      try db.first(ExistingFile.liveQuery, .integer(home), .name(key), .name(path), row: ExistingFile.init)
    }
    return try onlyCopy(at: home, live, path: path, key: key, linked: linked, rivals)
  }

  private func newestDone(_ destination: Int64, _ key: NameBytes) throws -> FileID? {
    try db.first(Self.newestDoneQuery, .integer(destination), .name(key)) { $0.id(0) }
  }

  static let newestDoneQuery: StaticString = """
    SELECT id FROM file WHERE destination_id = ? AND key = ? AND live IS NULL AND state = 'done'
    ORDER BY generation DESC LIMIT 1
    """
  static let deletedSource: StaticString = """
    SELECT f.id, f.path, m.state, f.path = ?2, f.batch_id FROM file f CROSS JOIN removal m ON m.file_id = f.id
    WHERE f.id = ?1 AND (f.path <> ?2 OR f.created_at < ?3) AND m.only_copy = 1
    """
}

extension NameBytes {
  /// The folder of an absolute path.
  var parentFolder: NameBytes { NameBytes(Array(bytes.prefix(max(bytes.lastIndex(of: 0x2F) ?? 0, 1)))) }
}
