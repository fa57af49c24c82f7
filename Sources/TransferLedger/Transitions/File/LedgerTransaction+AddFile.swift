import TransferModel

/// Inserts rows of files.
extension LedgerTransaction {
  /// Records a source that was given but cannot be sent (unreadable, vanished, name refused): a `failed` row without
  /// identity, so that reports include it. Such a row cannot be retried; the file must be pushed again.
  func admitFailed(
    path: NameBytes, key: NameBytes, code: ErrorCode, message: String, to batch: BatchID
  ) throws -> FileID {
    let home = try home(of: batch)
    let generation = try nextGeneration(home.destination, key)
    return FileID(
      rawValue: try db.insert(
        """
        INSERT INTO file (uid, batch_id, destination_id, generation, path, key, mode, state, cause, message, priority,
          created_at, finished_at) VALUES (?, ?, ?, ?, ?, ?, 0, 'failed', ?, ?, ?, ?, ?)
        """, .uid(.make(wallMs: wallMs)), .id(batch), .integer(home.destination), .int(generation), .name(path),
        .name(key), .raw(code), .text(message), .int(home.priority), .int(wallMs), .int(wallMs)))
  }

  struct Home {
    var destination: Int64
    var priority: Int
  }

  func home(of batch: BatchID) throws -> Home {
    let found = try db.first("SELECT destination_id, priority FROM batch WHERE id = ?", .id(batch)) { row in
      Home(destination: row.int64(0), priority: row.int(1))
    }
    guard let found else {
      throw TransferError(.bug, "write to store", NameBytes(batch.description), cause: "there is no such batch")
    }
    return found
  }

  func insert(
    _ file: NewFile, _ home: Home, _ batch: BatchID, generation: Int, notBeforeMs: Int64?,
    isSettling: Bool = false
  ) throws -> FileID {
    let identity = file.identity
    return FileID(
      rawValue: try db.insert(
        Self.insertFile, .uid(.make(wallMs: wallMs)), .id(batch), .integer(home.destination), .int(generation),
        .name(file.path),
        .name(file.key), .int(identity.size), .int(identity.mtimeNs), .int(identity.ctimeNs), .bits(identity.inode),
        .bits(identity.device), .int(file.mode), .int(home.priority), .int(notBeforeMs), .int(wallMs),
        .flag(isSettling),
        .bits(identity.boot), storedProperties(file.properties),
        .string(file.isCompared ? storedComparison(ofSize: identity.size) : nil), .int(file.root)))
  }

  /// A live file: settling if value 16 is true, otherwise pending. ``Admitter`` binds the values itself.
  static let insertFile: StaticString = """
    INSERT OR FAIL INTO file (uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns,
      inode, device, mode, state, priority, not_before, created_at, boot, properties, expected, root)
    VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, iif(?16, 'settling', 'pending'), ?13, ?14, ?15, ?17,
      ?18, ?19, ?20)
    """

  /// One more than the highest generation of the key so far, whether it is live, failed or was replaced.
  func nextGeneration(_ destination: Int64, _ key: NameBytes) throws -> Int {
    let live = try db.first(Self.liveGenerationQuery, .integer(destination), .name(key)) { $0.int(0) } ?? 0
    return 1 + max(live, try pastGeneration(destination, key))
  }

  private func pastGeneration(_ destination: Int64, _ key: NameBytes) throws -> Int {
    try db.first(Self.pastGenerationQuery, .integer(destination), .name(key)) { $0.int(0) } ?? 0
  }

  private static let liveGenerationQuery: StaticString =
    "SELECT generation FROM file WHERE destination_id = ? AND key = ? AND live = 1"

  static let pastGenerationQuery: StaticString =
    "SELECT max(generation) FROM file WHERE destination_id = ? AND key = ? AND live IS NULL"
}

extension SQLRow {
  /// Size, mtime, ctime, inode, device and boot, in this order.
  func identity(from i: Int32) -> SourceIdentity {
    SourceIdentity(
      size: int64(i), mtimeNs: int64(i + 1), ctimeNs: int64(i + 2), inode: bits(i + 3), device: bits(i + 4),
      boot: bits(i + 5))
  }
}
