import TransferEngine
public import TransferModel

/// A store and what is done with it: files are recorded, sent, controlled and looked at. Any number of clients, in one
/// process or several, may use one store at the same time; one of them at a time runs the engine.
///
/// State is in the store, and the client holds none but its connections: what a method recorded is durable when it
/// returns. Cancelling the task of a method that waits, reads or watches ends only that; cancelling the task of
/// ``run(until:_:stop:notice:)`` asks the engine to finish what it sends and to stop. What blocks runs on threads of
/// the client's own, never on those of Swift's tasks.
public final class TransferClient: Sendable {
  public static let version = "0.1.0"

  let files: TransferStore
  let owner: StoreOwner
  let pool = BlockingPool()
  let latest = LatestProgress()
  let clock: any TransferClock = SystemClock()

  private init(_ files: TransferStore, _ store: OpenStore) { (self.files, owner) = (files, StoreOwner(store)) }

  var store: OpenStore { owner.store }

  /// Opens the store at `path`, which is made when it is missing (its folder with mode 0700, the file with 0600) unless
  /// `mayCreate` is false. `credentials` is asked wherever runs of this client need a credential.
  /// - Throws: `.storeMissing`, `.storeUnsuitable` and the other errors of a store.
  public static func open(
    _ path: String, mayCreate: Bool = true, credentials: CredentialHook? = nil
  ) async throws(TransferError) -> TransferClient {
    let pool = BlockingPool()
    return try await pool.run { () throws(TransferError) in
      let store = try OpenStore(at: path, mayCreate ? .create : .existing)
      return TransferClient(TransferStore(at: store.path, credentials: credentials), store)
    }
  }

  /// Absolute.
  public var storePath: String { store.path }

  /// Records files and folders to be sent; touches no network. Adding the same again records nothing.
  /// - Throws: `.usage`, `.config`, `.noSource` and `.badList` before anything is recorded; errors of the store.
  public func add(
    _ sources: [String], _ options: UploadOptions, notice: @escaping @Sendable (Notice) -> Void = { _ in }
  ) async throws(TransferError) -> AddResult {
    try await pool.run { [files] () throws(TransferError) in
      try files.add(sources.map { NameBytes($0) }, options, notice: notice)
    }
  }

  /// Records files at servers to be fetched; touches no network. Adding the same again while it waits records nothing.
  /// - Throws: `.usage` and `.config` before anything is recorded; errors of the store.
  public func add(
    _ downloads: DownloadOptions, notice: @escaping @Sendable (Notice) -> Void = { _ in }
  ) async throws(TransferError) -> AddResult {
    try await pool.run { [files] () throws(TransferError) in try files.add(downloads, notice: notice) }
  }

  /// Says what ``add(_:_:notice:)`` would record and what sending it would take; every file comes as `Notice.planned`.
  /// Writes nothing and touches no network.
  public func plan(
    _ sources: [String], _ options: UploadOptions, notice: @escaping @Sendable (Notice) -> Void = { _ in }
  ) async throws(TransferError) -> PlanResult {
    try await pool.run { [files] () throws(TransferError) in
      try files.plan(sources.map { NameBytes($0) }, options, notice: notice)
    }
  }

  /// The same for files at servers; their sizes are known as far as manifests tell them.
  public func plan(
    _ downloads: DownloadOptions, notice: @escaping @Sendable (Notice) -> Void = { _ in }
  ) async throws(TransferError) -> PlanResult {
    try await pool.run { [files] () throws(TransferError) in try files.plan(downloads, notice: notice) }
  }

  /// Compares the local files of downloads that `filter` selects with what was recorded of them, each read from its
  /// beginning to its end. What was found of a file is durable when `found` is told of it.
  /// - Parameters:
  ///   - share: only one of equal shares of them.
  ///   - repairs: records what has changed or is missing to be fetched again, whole; ``run(until:_:stop:notice:)``
  ///     fetches it, and it replaces what is there.
  /// - Throws: errors of the store.
  public func verify(
    _ filter: RowFilter, share: FileShare = .all, repairs: Bool = false,
    found: @escaping @Sendable (KeptDownload, Result<LocalFinding, Failure>) -> Void = { _, _ in }
  ) async throws(TransferError) -> VerifyResult {
    try await pool.run { [files] () throws(TransferError) in
      try files.verify(filter, share, repairs: repairs, found: found)
    }
  }
}
