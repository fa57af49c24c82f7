import TransferModel

/// Objects at a destination that may be the only copies of what was sent.
extension LedgerReader {
  /// The done file whose object another file with its key would replace, if its source was deleted or may have been:
  /// nil if `path` is its own, which is then a newer version, and if a person gave it up (`rm`). What the batch of the
  /// file is to do with its sources now does not matter, nor whether the file is hidden.
  /// - Parameter live: the live row of the key; nil if there is none.
  func onlyCopy(
    at destination: Int64, _ live: ExistingFile?, path: NameBytes, key: NameBytes
  ) throws -> OnlyCopy? {
    if let live, live.isSamePath { return nil }
    let done = try live?.state == .done ? live?.id : newestDone(destination, key)
    guard let done else { return nil }
    return try db.first(Self.deletedSource, .id(done), .name(path)) { row throws(SQLiteError) in
      OnlyCopy(file: row.id(0), path: row.name(1), removal: try row.named(2))
    }
  }

  /// The same for a source of a plan, whose key is at this place.
  package func onlyCopy(place: String, path: NameBytes, key: NameBytes) throws -> OnlyCopy? {
    guard let home = try db.destination(at: place) else { return nil }
    let live = try db.first(
      ExistingFile.liveQuery, .integer(home), .name(key), .name(path), row: ExistingFile.init)
    return try onlyCopy(at: home, live, path: path, key: key)
  }

  private func newestDone(_ destination: Int64, _ key: NameBytes) throws -> FileID? {
    try db.first(Self.newestDoneQuery, .integer(destination), .name(key)) { $0.id(0) }
  }

  static let newestDoneQuery: StaticString = """
    SELECT id FROM file WHERE destination_id = ? AND key = ? AND live IS NULL AND state = 'done'
    ORDER BY generation DESC LIMIT 1
    """
  static let deletedSource: StaticString = """
    SELECT f.id, f.path, m.state FROM file f CROSS JOIN removal m ON m.file_id = f.id
    WHERE f.id = ?1 AND f.path <> ?2 AND m.only_copy = 1
    """
}
