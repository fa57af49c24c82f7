import TransferModel

/// The admission of one list of downloads. Lives inside one transaction.
struct DownloadAdmission {
  private let tx: LedgerTransaction
  private let target: AdmissionTarget
  /// The listing that names the files; nil if a person named them.
  private let listing: FileID?
  private var requeued: Set<FileID> = []
  private(set) var result = PageAdmission()

  init(_ tx: LedgerTransaction, _ target: AdmissionTarget, batch: BatchID?, listing: FileID? = nil) {
    (self.tx, self.target, self.listing) = (tx, target, listing)
    result.batch = batch
  }

  mutating func admit(_ file: NewDownload) throws {
    let standing = try file.standing(ExistingFile.liveQuery, at: try place(), tx.db)
    if let standing, standing.state != .done {
      try tx.db.requireSame(file, standing.id)
      result.queued += 1
      return try select(standing.id, of: standing.batch, file)
    }
    let past = try file.standing(ExistingFile.pastQuery, at: try place(), tx.db)
    if let past, requeued.contains(past.id) {
      result.repeated += 1
      return
    }
    if standing == nil, let past, past.isSamePath, past.state == .failed || past.state == .cancelled,
      try tx.db.expectation(of: past.id) == file.expected, try target.batch.fits(past.batch, tx.db, nowMs: tx.wallMs)
    {
      try freePath(file)
      requeued.insert(past.id)
      result.requeued += 1
      return try select(past.id, of: past.batch, file)
    }
    var file = file
    if let standing {
      file.folded = try file.folded ?? tx.db.folded(of: standing.id)
      try tx.replace(standing.id, isDone: true)
    }
    try add(file, generation: 1 + max(standing?.generation ?? 0, past?.generation ?? 0))
  }

  private mutating func add(_ file: NewDownload, generation: Int) throws {
    let batch = try result.batch ?? tx.createBatch(target.batch, uid: target.uid)
    result.batch = batch
    let home = try tx.home(of: batch)
    try tx.supersedeEnded(home.destination, file.key)
    try freePath(file)
    let id = try tx.insertDownload(file, home, batch, generation: generation, notBeforeMs: nil)
    result.added += 1
    result.bytes +|= file.expected.size ?? 0
    try select(id, of: batch, file)
  }

  /// A file of a listing is not selected itself: it is selected with the listing.
  private mutating func select(_ id: FileID, of batch: BatchID, _ file: NewDownload) throws {
    if let listing { return try tx.noteListed(id, of: batch, by: listing, in: result.batch) }
    if file.key.isFolder { result.files.follow(id, of: batch) }
    result.files.insert(id, of: batch)
  }

  /// Admits a file of a page that a server sent: a conflict fails this file, not the page.
  mutating func admitListed(_ file: NewDownload) throws {
    if let standing = try file.standing(ExistingFile.liveQuery, at: try place(), tx.db), standing.state != .done {
      guard standing.isSamePath else {
        let path = try tx.db.path(of: standing.id) ?? file.path
        let text = "unfinished file \(standing.id), from the same URL, is being fetched to \(path.embedded)"
        return try refuse(file, Failure(.policyExists, text))
      }
      result.queued += 1
      return try select(standing.id, of: standing.batch, file)
    }
    guard let other = try tx.db.existingWriter(of: file), !other.isDone || isOfThisPull(other, file) else {
      return try admit(file)
    }
    try refuse(file, Failure(.policyExists, other.conflict(with: file)))
  }

  /// Whether this pull recorded the other file, whose different name the folder does not distinguish from this one: it
  /// must not be replaced.
  private func isOfThisPull(_ other: ExistingWriter, _ file: NewDownload) -> Bool {
    other.path != file.path && other.batch == result.batch
  }

  /// Records that a listed object cannot be fetched, unless the newest row of its key says so already.
  mutating func refuse(_ file: NewDownload, _ failure: Failure) throws {
    guard let batch = result.batch else { return }
    let standing = try file.standing(ExistingFile.liveQuery, at: try place(), tx.db)
    let past = try file.standing(ExistingFile.pastQuery, at: try place(), tx.db)
    if let past, past.state == .failed, past.isSamePath { return try select(past.id, of: past.batch, file) }
    let home = try tx.home(of: batch)
    try tx.supersedeEnded(home.destination, file.key)
    try tx.insertRefused(
      file, home, batch, generation: 1 + max(standing?.generation ?? 0, past?.generation ?? 0), failure)
    result.added += 1
  }

  /// Replaces a finished download at the same path.
  private func freePath(_ file: NewDownload) throws {
    guard let other = try tx.db.writer(of: file) else { return }
    try tx.replace(other.id, isDone: true)
  }

  private func place() throws -> Int64? { try tx.db.destination(at: target.batch.canonicalPlace) }

  mutating func finish() throws {
    guard !requeued.isEmpty else { return }
    try tx.choose(requeued.sorted())
    try tx.retryChosen(startsOver: false)
  }
}
