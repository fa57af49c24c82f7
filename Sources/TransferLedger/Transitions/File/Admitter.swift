import TransferModel

/// The statements that record files of one destination. Lives inside one transaction.
struct Admitter {
  private let tx: LedgerTransaction
  /// nil until it is created with the first file that needs a row.
  private(set) var batch: BatchID?
  private let priority: Int
  private let target: AdmissionTarget
  /// Files may be sent only after their source has been copied.
  private var isStaged: Bool { target.batch.settings.stage == true }
  /// Files wait until their source has been unchanged for this long, in milliseconds.
  private var settleMs: Int64? { target.batch.settings.settleMs }
  private let insert: Statement
  private var existing: ExistingFiles
  /// Some file of the ledger has failed.
  private var hasFailed: Bool
  /// Files that were recorded, found waiting or active, or failed before and are retried.
  private(set) var selected = SelectedFiles()
  /// The selected files that failed before. ``finish()`` retries them.
  private var requeued: Set<FileID> = []
  /// Sources that cannot be sent and get no row, because there is one that says so, or none is possible.
  private(set) var failedBefore = EarlierFailures()
  /// Whether the files of a batch would be recorded in the same way if they were added now.
  private var fitting: [BatchID: Bool] = [:]
  private(set) var hasRecorded = false
  /// The properties that rules set for the object of the next file, in stored form; nil for none.
  var properties: String?
  /// The next file is the one that a list or a plan means (``NewFile/isCompared``).
  var isCompared = false
  /// Of the next file (``NewFile/root``).
  var root: Int?
  /// Of the page.
  var linkedFolders: [NameBytes: LinkedFolder] = [:]
  /// The number of selected files that are not to be sent yet.
  private(set) var settling = 0
  /// How many of the added files replace a live one of another path.
  private(set) var replacedOthers = 0
  /// How many of the added files are sent again because their object was lost at the destination or changed there.
  private(set) var resentLost = 0

  /// - Parameter batch: the batch, if it exists already.
  init(_ tx: LedgerTransaction, _ target: AdmissionTarget, batch: BatchID?) throws {
    self.tx = tx
    self.batch = batch
    self.target = target
    existing = try ExistingFiles(tx, target.batch)
    priority = try batch.map { try tx.home(of: $0).priority } ?? target.batch.priority
    insert = try tx.db.statement(LedgerTransaction.insertFile)
    hasFailed = try tx.db.first(Self.anyFailed) { _ in true } ?? false
  }

  /// Decides what to do with a source, and does it.
  mutating func admit(
    _ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ identity: SourceIdentity, _ mode: UInt32,
    _ outcome: ContentOutcome? = nil
  ) throws -> Admission {
    if try existing.isSegment(key) { return .taken }
    guard let current = try existing.live(path, key) else { return try admitNext(path, key, identity, mode) }
    // The source can be read now: an earlier `failed` row of its key is superseded.
    if hasFailed, try existing.past(path, key)?.state == .failed { try supersedeEnded(key) }
    if current.batch == batch, current.id.rawValue > target.mark.file {
      guard current.isSamePath else { throw try existing.collision(path, key, current.id) }
      return isSelected(current, as: .repeated(current.id))
    }
    switch finding(current, identity) {
    case .unknown: return .unknown(current.id)
    case .unchanged where outcome != .other(current.id): return .unchanged(current.id)
    case .moved(let known) where outcome != .other(current.id):
      guard outcome == .same(current.id) else { return .moved(current.id, known) }
      _ = try tx.sightDone(current.id, as: identity)
      return .unchanged(current.id)
    case .queued: return isSelected(current, as: .queued(current.id))
    case .busy: return isSelected(current, as: .busy(current.id))
    case .settling, .changing:
      if !current.isSeen(as: identity) { _ = try tx.lookAgain(current.id, identity, byRun: false) }
      settling += 1
      return isSelected(current, as: .queued(current.id))
    case .unchanged, .moved, .outdated:
      if let only = try existing.onlyCopy(path, key, linkedFolders, current) { return .onlyCopy(only) }
      if try !current.isSamePath || existing.hasOther(path, key) { replacedOthers += 1 }
      if current.isLost, current.mayBe(identity) { resentLost += 1 }
      let generation = 1 + max(current.generation, try existing.past(path, key)?.generation ?? 0)
      if current.state == .unknown {
        try tx.supersedeUnknown(current.id, of: current.batch)
      } else {
        for duplicate in try tx.replace(current.id, isDone: current.state == .done) {
          selected.insert(duplicate.file, of: duplicate.batch)
        }
      }
      existing.hasPast = true
      return .added(try add(path, key, identity, mode, generation), superseded: current.id)
    }
  }

  /// A row keeps what it may be opened through: a waiting one is replaced if that has been decided otherwise since.
  private func finding(_ current: ExistingFile, _ identity: SourceIdentity) -> ExistingFile.Finding {
    let finding = current.finding(identity)
    return finding == .queued && current.state == .pending && current.root != root ? .outdated : finding
  }

  /// The key has no live row. If its newest row failed and would be recorded in the same way now, that file is retried;
  /// otherwise a new generation is added.
  private mutating func admitNext(
    _ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ identity: SourceIdentity, _ mode: UInt32
  ) throws -> Admission {
    guard let past = try existing.past(path, key) else {
      if existing.hasRivals, let only = try existing.onlyCopy(path, key, linkedFolders) { return .onlyCopy(only) }
      if try existing.hasOther(path, key) { replacedOthers += 1 }
      return .added(try add(path, key, identity, mode, 1), superseded: nil)
    }
    if requeued.contains(past.id) { return .repeated(past.id) }
    if past.mayHaveDelivered(identity) { return past.isDecided ? .unchanged(past.id) : .uncertain(past.id) }
    if target.batch.settings.dedupe == true, past.isDuplicate(as: identity),
      try LedgerReader(db: tx.db).isStillDelivered(past.id)
    {
      return .unchanged(past.id)
    }
    if let only = try existing.onlyCopy(path, key, linkedFolders) { return .onlyCopy(only) }
    if past.maySucceed(as: identity, isStaged: isStaged), past.root == root, try fits(past), try isRecordedSo(past.id) {
      requeued.insert(past.id)
      return isSelected(past, as: .requeued(past.id))
    }
    if past.state == .failed || past.state == .cancelled { try supersedeEnded(key) }
    if try existing.hasOther(path, key) { replacedOthers += 1 }
    return .added(try add(path, key, identity, mode, 1 + past.generation), superseded: nil)
  }

  /// Whether a file was recorded with what would be recorded for the next one besides its names and identity.
  private func isRecordedSo(_ file: FileID) throws -> Bool {
    try tx.db.first("SELECT properties, expected IS NOT NULL FROM file WHERE id = ?", .id(file)) { row in
      row.textOrNil(0) == properties && row.flag(1) == isCompared
    } ?? false
  }

  /// Completes the admission of a page.
  mutating func finish() throws {
    guard !requeued.isEmpty else { return }
    try tx.choose(requeued.sorted())
    try tx.retryChosen(startsOver: false)
    requeued = []
  }

  private mutating func fits(_ file: ExistingFile) throws -> Bool {
    if let known = fitting[file.batch] { return known }
    let fits = try target.batch.fits(file.batch, tx.db, nowMs: tx.wallMs)
    fitting[file.batch] = fits
    return fits
  }

  private func supersedeEnded(_ key: UnsafeRawBufferPointer) throws {
    guard let destination = existing.destination else { return }
    try tx.supersedeEnded(destination, NameBytes(Array(key)))
  }

  private mutating func isSelected(_ file: ExistingFile, as admission: Admission) -> Admission {
    selected.insert(file.id, of: file.batch)
    return admission
  }

  /// Records that a source cannot be sent, unless the newest row of its key says so already.
  mutating func fail(_ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ failure: Failure) throws {
    // A segment has no other generation. The failure was told.
    if try existing.isSegment(key) { return failedBefore.insert(failure, of: NameBytes(Array(path))) }
    let (path, key) = (NameBytes(Array(path)), NameBytes(Array(key)))
    if let destination = existing.destination, let last = try tx.lastFailure(destination, path, key, failure) {
      return failedBefore.insert(failure.code, of: last.batch, last.hits)
    }
    // The row that says what may have arrived stays the newest one of its key. The failure was told.
    if let destination = existing.destination, try tx.mayHaveArrived(destination, key) {
      return failedBefore.insert(failure, of: path)
    }
    let batch = try openBatch()
    if let destination = existing.destination { try tx.supersedeEnded(destination, key) }
    hasFailed = true
    _ = try tx.admitFailed(path: path, key: key, code: failure.code, message: failure.message, to: batch)
    (existing.hasPast, hasRecorded) = (true, true)
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
      insert.bind(3, existing.destination ?? 0)
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
      insert.bind(16, isStaged || settleMs != nil ? 1 : 0)
      insert.bind(17, Int64(bitPattern: identity.boot))
      insert.bind(18, properties)
      insert.bind(19, isCompared ? storedComparison(ofSize: identity.size) : nil)
      if let root { insert.bind(20, Int64(root)) } else { insert.bindNull(20) }
      try insert.run()
    }
    hasRecorded = true
    let id = FileID(rawValue: tx.db.lastInsertedRow)
    if let settleMs {
      try tx.beginLook(id, boot: identity.boot, settleMs: settleMs)
      settling += 1
    }
    selected.insert(id, of: batch)
    return id
  }

  private mutating func openBatch() throws -> BatchID {
    if let batch { return batch }
    let opened = try tx.createBatch(target.batch, uid: target.uid)
    batch = opened
    existing.destination = try tx.home(of: opened).destination
    return opened
  }

  static let anyFailed: StaticString = """
    SELECT 1 FROM file WHERE state = 'failed'
      AND state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing' LIMIT 1
    """
}
