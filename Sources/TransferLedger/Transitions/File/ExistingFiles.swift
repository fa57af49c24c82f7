import TransferModel

/// The rows that files of one destination have already, as their admission needs them. Lives inside one transaction.
struct ExistingFiles {
  private let tx: LedgerTransaction
  private let liveQuery, pastQuery: Statement
  /// nil until the destination is created with its first batch.
  var destination: Int64?
  /// Some key of the destination has a generation that is not the live one.
  var hasPast = false
  /// Growing files are sent to the destination as segments.
  private var hasSegments = false
  /// Other destinations that may have the same objects.
  private let rivals: Rivals?

  var hasRivals: Bool { rivals != nil }

  init(_ tx: LedgerTransaction, _ batch: NewBatch) throws {
    self.tx = tx
    let place = batch.canonicalPlace
    destination = try tx.db.destination(at: place)
    liveQuery = try tx.db.statement(ExistingFile.liveQuery)
    pastQuery = try tx.db.statement(ExistingFile.pastQuery)
    rivals = try Rivals(of: batch.objects, at: place, tx.db)
    if let destination {
      let query: StaticString = "SELECT 1 FROM file WHERE destination_id = ? AND live IS NULL LIMIT 1"
      hasPast = try tx.db.first(query, .integer(destination)) { _ in true } ?? false
      hasSegments = try tx.db.first(Self.anySeries, .integer(destination)) { _ in true } ?? false
    }
  }

  /// The live generation of the source and key; lost if another file has overwritten its object.
  func live(_ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws -> ExistingFile? {
    var found = try file(liveQuery, path, key)
    if rivals != nil, let done = found, done.state == .done, !done.isLost {
      found?.isLost = try LedgerReader(db: tx.db).isOverwritten(done.id)
    }
    return found
  }

  /// The newest generation that is not live.
  func past(_ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws -> ExistingFile? {
    hasPast ? try file(pastQuery, path, key) : nil
  }

  private func file(
    _ query: Statement, _ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer
  ) throws -> ExistingFile? {
    guard let destination else { return nil }
    query.bind(1, destination)
    query.bind(2, borrowing: key)
    query.bind(3, borrowing: path)
    defer { query.reset() }
    guard try query.step() else { return nil }
    return try ExistingFile(query.row)
  }

  /// Whether the file replaces the object of another one by another name of the destination.
  func hasOther(_ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws -> Bool {
    guard let rivals else { return false }
    return try LedgerReader(db: tx.db).hasOther(rivals, at: NameBytes(Array(key)), than: NameBytes(Array(path)))
  }

  func onlyCopy(
    _ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ linkedFolders: [NameBytes: LinkedFolder],
    _ current: ExistingFile? = nil
  ) throws -> OnlyCopy? {
    let path = NameBytes(Array(path))
    return try LedgerReader(db: tx.db).onlyCopy(
      at: destination, current, path: path, key: NameBytes(Array(key)),
      linked: linkedFolders.isEmpty ? nil : linkedFolders[path.parentFolder], rivals)
  }

  /// Whether the object with this key is a segment of a growing file. Few keys have the form of its name.
  func isSegment(_ key: UnsafeRawBufferPointer) throws -> Bool {
    guard hasSegments, let destination, GrowingSeries.mayBeSegment(key) else { return false }
    let key = NameBytes(Array(key))
    return try tx.db.first(Self.segmentQuery, .integer(destination), .name(key)) { _ in true } ?? false
  }

  /// The error for two sources of one push with the same key.
  func collision(
    _ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ other: FileID
  ) throws -> TransferError {
    let name = try tx.db.first("SELECT path FROM file WHERE id = ?", .id(other)) { $0.name(0) } ?? NameBytes("")
    return .sameKey(NameBytes(Array(path)), name, NameBytes(Array(key)))
  }

  private static let anySeries: StaticString = "SELECT 1 FROM series WHERE destination_id = ? LIMIT 1"
  private static let segmentQuery: StaticString = """
    SELECT 1 FROM file f CROSS JOIN segment g ON g.file_id = f.id WHERE f.destination_id = ?1 AND f.key = ?2 AND f.live = 1
    UNION ALL
    SELECT 1 FROM file f CROSS JOIN segment g ON g.file_id = f.id
    WHERE f.destination_id = ?1 AND f.key = ?2 AND f.live IS NULL LIMIT 1
    """
}
