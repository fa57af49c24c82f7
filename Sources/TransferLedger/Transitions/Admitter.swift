import TransferModel

/// The statements that record files of one destination. Lives inside one transaction.
struct Admitter {
  private let tx: LedgerTransaction
  /// nil until it is made with the first file that needs a row.
  private(set) var batch: BatchID?
  private var destination: Int64?
  private let priority: Int
  private let target: AdmissionTarget
  /// Files wait for the copy of their source before they may be sent.
  private var isStaged: Bool { target.batch.settings.stage == true }
  private let live, past, insert: Statement
  /// Some key of the destination has a generation that is not the live one.
  private var hasPast = false
  /// Found waiting or in work.
  private(set) var queued = QueuedFiles()
  private(set) var hasRecorded = false

  /// - Parameter batch: when it is there already.
  init(_ tx: LedgerTransaction, _ target: AdmissionTarget, batch: BatchID?) throws {
    self.tx = tx
    self.batch = batch
    self.target = target
    let place = target.batch.canonicalPlace
    destination = try tx.db.first("SELECT id FROM destination WHERE place = ?", .text(place)) { $0.int64(0) }
    priority = try batch.map { try tx.home(of: $0).priority } ?? target.batch.priority
    live = try tx.db.statement(Self.liveQuery)
    past = try tx.db.statement(LedgerTransaction.pastGenerationQuery)
    insert = try tx.db.statement(LedgerTransaction.insertFile)
    if let destination {
      let query: StaticString = "SELECT 1 FROM file WHERE destination_id = ? AND live IS NULL LIMIT 1"
      hasPast = try tx.db.first(query, .integer(destination)) { _ in true } ?? false
    }
  }

  /// Decides what is done with a source, and does it.
  mutating func admit(
    _ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ identity: SourceIdentity, _ mode: UInt32
  ) throws -> Admission {
    guard let current = try liveFile(path, key) else {
      let generation = 1 + (try pastGeneration(key))
      if generation > 1, let destination { try tx.dropSessions(destination, NameBytes(Array(key))) }
      return .added(try add(path, key, identity, mode, generation), superseded: nil)
    }
    if current.batch == batch, current.id.rawValue > target.mark.file {
      guard current.isSamePath else { throw try collision(path, key, current.id) }
      return .repeated(current.id)
    }
    let isSame = current.identity == identity
    switch current.state {
    case .unknown: return .unknown(current.id)
    case .done where isSame: return .unchanged(current.id)
    case .paused: return isQueued(current, as: .queued(current.id))
    case .pending where isSame, .settling where isSame, .active where isSame, .finishing where isSame:
      return isQueued(current, as: .queued(current.id))
    case .active, .finishing: return isQueued(current, as: .busy(current.id))
    case .done, .pending, .settling, .failed, .cancelled, .superseded:
      let generation = 1 + max(current.generation, try pastGeneration(key))
      try tx.replace(current.id, isDone: current.state == .done)
      hasPast = true
      return .added(try add(path, key, identity, mode, generation), superseded: current.id)
    }
  }

  private mutating func isQueued(_ file: LiveFile, as admission: Admission) -> Admission {
    queued.insert(file.id, of: file.batch)
    return admission
  }

  /// Records that a source cannot be sent, unless that is the last thing that is known of it.
  mutating func fail(_ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ failure: Failure) throws {
    let (path, key) = (NameBytes(Array(path)), NameBytes(Array(key)))
    if let destination, try tx.isLastFailure(destination, path, key, failure) { return }
    let batch = try openBatch()
    _ = try tx.admitFailed(path: path, key: key, code: failure.code, message: failure.message, to: batch)
    (hasPast, hasRecorded) = (true, true)
  }

  private mutating func add(
    _ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ identity: SourceIdentity, _ mode: UInt32,
    _ generation: Int
  ) throws -> FileID {
    let batch = try openBatch()
    let uid = UID.make(wallMs: tx.wallMs)
    try withUnsafeBytes(of: (uid.high.bigEndian, uid.low.bigEndian)) { uid in
      insert.bind(1, borrowing: uid)
      insert.bind(2, batch.rawValue)
      insert.bind(3, destination ?? 0)
      insert.bind(4, Int64(generation))
      insert.bind(5, borrowing: path)
      insert.bind(6, borrowing: key)
      insert.bind(7, identity.size)
      insert.bind(8, identity.mtimeNs)
      insert.bind(9, identity.ctimeNs)
      insert.bind(10, Int64(bitPattern: identity.inode))
      insert.bind(11, Int64(bitPattern: identity.device))
      insert.bind(12, Int64(mode))
      insert.bind(13, Int64(priority))
      insert.bindNull(14)
      insert.bind(15, tx.wallMs)
      insert.bind(16, isStaged ? 1 : 0)
      try insert.run()
    }
    hasRecorded = true
    return FileID(rawValue: tx.db.lastInsertedRow)
  }

  private mutating func openBatch() throws -> BatchID {
    if let batch { return batch }
    let opened = try tx.createBatch(target.batch, uid: target.uid)
    batch = opened
    destination = try tx.home(of: opened).destination
    return opened
  }

  private struct LiveFile {
    var id: FileID
    var batch: BatchID
    var generation: Int
    var state: FileState
    var identity: SourceIdentity
    var isSamePath: Bool
  }

  private func liveFile(_ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws -> LiveFile? {
    guard let destination else { return nil }
    live.bind(1, destination)
    live.bind(2, borrowing: key)
    live.bind(3, borrowing: path)
    defer { live.reset() }
    guard try live.step() else { return nil }
    let row = live.row
    return LiveFile(
      id: row.id(0), batch: row.id(1), generation: row.int(2), state: try row.named(3), identity: row.identity(from: 4),
      isSamePath: row.flag(9))
  }

  private func pastGeneration(_ key: UnsafeRawBufferPointer) throws -> Int {
    guard hasPast, let destination else { return 0 }
    past.bind(1, destination)
    past.bind(2, borrowing: key)
    defer { past.reset() }
    return try past.step() ? past.row.int(0) : 0
  }

  private func collision(
    _ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ other: FileID
  ) throws -> TransferError {
    let name = try tx.db.first("SELECT path FROM file WHERE id = ?", .id(other)) { $0.name(0) } ?? NameBytes("")
    return .sameKey(NameBytes(Array(path)), name, NameBytes(Array(key)))
  }

  static let liveQuery: StaticString = """
    SELECT id, batch_id, generation, state, size, mtime_ns, ctime_ns, inode, device, path = ?3 FROM file
    WHERE destination_id = ?1 AND key = ?2 AND live = 1
    """
}
