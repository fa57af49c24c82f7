import TransferEngine
public import TransferModel

/// A store and its operations: recording, sending, controlling and inspecting files. Any number of clients, in one
/// process or several, may use one store at the same time; only one of them at a time runs the engine.
///
/// All state is in the store; the client only has its connections. What a method recorded is durable when it returns.
/// Cancelling the task of a method that waits, reads or watches ends only that method; cancelling the task of
/// ``run(until:_:stop:notice:)`` asks the engine to finish what it is sending and to stop. Blocking work runs on the
/// client's own threads, never on those of Swift's tasks.
public final class TransferClient: Sendable {
  public static let version = "0.1.0"

  let files: TransferStore
  let owner: StoreOwner
  let pool = BlockingPool()
  let latest = LatestProgress()
  let clock: any TransferClock = SystemClock()

  private init(_ files: TransferStore, _ store: OpenStore) { (self.files, owner) = (files, StoreOwner(store)) }

  var store: OpenStore { owner.store }

  /// Opens the store at `path`; creates it if it is missing (its folder with mode 0700, the file with 0600) unless
  /// `mayCreate` is false. `credentials` is called whenever runs of this client need a credential. A store that
  /// ``merge(_:into:)`` made can be opened, too; of its client, only the methods that change nothing work, and all
  /// others throw `.storeUnsuitable`.
  /// - Throws: `.storeMissing`, `.storeUnsuitable` and the other errors of a store.
  public static func open(
    _ path: String, mayCreate: Bool = true, credentials: CredentialHook? = nil
  ) async throws(TransferError) -> TransferClient {
    let pool = BlockingPool()
    return try await pool.run { () throws(TransferError) in
      let store = try OpenStore.changeable(at: path, mayCreate: mayCreate)
      return TransferClient(TransferStore(at: store.path, credentials: credentials), store)
    }
  }

  /// The absolute path of the store.
  public var storePath: String { store.path }

  /// Records files and folders to be sent; does not use the network. Adding the same again records nothing.
  /// - Throws: `.usage`, `.config`, `.noSource` and `.badList` before anything is recorded; errors of the store.
  public func add(
    _ sources: [String], _ options: UploadOptions, notice: @escaping @Sendable (Notice) -> Void = { _ in }
  ) async throws(TransferError) -> AddResult {
    try await pool.run { [files] () throws(TransferError) in
      try files.add(sources.map { NameBytes($0) }, options, notice: notice)
    }
  }

  /// Records files on servers to be fetched; does not use the network. Adding a file again while it waits records
  /// nothing.
  /// - Throws: `.usage` and `.config` before anything is recorded; errors of the store.
  public func add(
    _ downloads: DownloadOptions, notice: @escaping @Sendable (Notice) -> Void = { _ in }
  ) async throws(TransferError) -> AddResult {
    try await pool.run { [files] () throws(TransferError) in try files.add(downloads, notice: notice) }
  }

  /// Reports what ``add(_:_:notice:)`` would record and what sending it would require; every file is reported as
  /// `Notice.planned`. Writes nothing and does not use the network.
  public func plan(
    _ sources: [String], _ options: UploadOptions, notice: @escaping @Sendable (Notice) -> Void = { _ in }
  ) async throws(TransferError) -> PlanResult {
    try await pool.run { [files] () throws(TransferError) in
      try files.plan(sources.map { NameBytes($0) }, options, notice: notice)
    }
  }

  /// The same for files on servers; their sizes are known only if manifests state them.
  public func plan(
    _ downloads: DownloadOptions, notice: @escaping @Sendable (Notice) -> Void = { _ in }
  ) async throws(TransferError) -> PlanResult {
    try await pool.run { [files] () throws(TransferError) in try files.plan(downloads, notice: notice) }
  }

  /// Compares the local files of the downloads that `filter` selects with what was recorded about them. Each file is
  /// read completely. The finding for a file is durable when `found` is called with it.
  /// - Parameters:
  ///   - share: selects only one of several equal shares of the files.
  ///   - repairs: records changed and missing files to be fetched again; ``run(until:_:stop:notice:)`` fetches what is
  ///     wrong of them. They are replaced only by the recorded content: if the server has another version, they fail.
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
