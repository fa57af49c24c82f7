import TransferModel

/// Objects at a destination that may be the only copies of what was sent.
extension LedgerReader {
  /// The done file whose object another file with its key would replace, if its source was deleted: nil if `path` is
  /// its own, which is then a newer version, and if a person hid it (`rm`), which gives it up.
  /// - Parameter live: the live row of the key; nil if there is none.
  func onlyCopy(
    at destination: Int64, _ live: ExistingFile?, path: NameBytes, key: NameBytes
  ) throws -> (file: FileID, path: NameBytes)? {
    if let live, live.isSamePath { return nil }
    let done = try live?.state == .done ? live?.id : newestDone(destination, key)
    guard let done else { return nil }
    return try db.first(Self.deletedSource, .id(done), .name(path)) { ($0.id(0), $0.name(1)) }
  }

  /// The same for a source of a plan, whose key is at this place.
  package func onlyCopy(place: String, path: NameBytes, key: NameBytes) throws -> OnlyCopy? {
    guard let home = try db.destination(at: place) else { return nil }
    let live = try db.first(
      ExistingFile.liveQuery, .integer(home), .name(key), .name(path), row: ExistingFile.init)
    return try onlyCopy(at: home, live, path: path, key: key).map { OnlyCopy(index: 0, file: $0.file, path: $0.path) }
  }

  private func newestDone(_ destination: Int64, _ key: NameBytes) throws -> FileID? {
    try db.first(Self.newestDoneQuery, .integer(destination), .name(key)) { $0.id(0) }
  }

  static let newestDoneQuery: StaticString = """
    SELECT id FROM file WHERE destination_id = ? AND key = ? AND live IS NULL AND state = 'done'
    ORDER BY generation DESC LIMIT 1
    """
  static let deletedSource: StaticString = """
    SELECT f.id, f.path FROM file f CROSS JOIN removal m ON m.file_id = f.id CROSS JOIN batch b ON b.id = f.batch_id
    WHERE f.id = ?1 AND f.path <> ?2 AND f.hidden IS NULL AND m.state = 'done'
      AND b.settings -> 'after' ->> 'action' = 'delete'
    """
}
