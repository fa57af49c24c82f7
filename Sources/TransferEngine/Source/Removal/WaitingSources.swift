import CSys
public import TransferLedger
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Sources whose removal was put off: until a destination has them, or until their file system is available. The
/// removals of the former end when they are gone. A folder of a server that does not answer may block: no read of the
/// ledger is open meanwhile.
public struct WaitingSources {
  /// How many sources that wait for a destination are examined at most.
  public static let atOnce = 2_000

  private let ledger: Ledger
  /// The places of the sources of each batch; nil for one that keeps its sources.
  private var places: [BatchID: SourcePlaces?] = [:]

  public init(_ ledger: Ledger) { self.ledger = ledger }

  /// Whether a source that waits for a destination is gone, so that an engine can end its removal. Examines at most
  /// ``atOnce`` sources, others each time. Blocking.
  public mutating func isAnyGone() throws(TransferError) -> Bool {
    guard let files = try ledger.read({ reader in try reader.filesAwaitingDestination() }) else { return false }
    let start = Int64.random(in: files) - 1
    for part in [start...files.upperBound, 0...start] {
      let page = try ledger.read { reader in
        try reader.sourcesAwaitingDestination(
          after: part.lowerBound, through: part.upperBound, limit: Self.atOnce / 2)
      }
      for one in page {
        if try isGone(one) { return true }
      }
    }
    return false
  }

  /// Whether an engine can remove sources now that waited for their file system, or decide what becomes of them.
  /// Examines one source of each folder. Blocking.
  public mutating func isAnyFolderBack(nowMs: Int64) throws(TransferError) -> Bool {
    var folder: NameBytes?
    while let wait = try ledger.read({ [folder] reader in try reader.nextFolderWait(after: folder, nowMs: nowMs) }) {
      if let due = wait.due, try isBack(due) { return true }
      folder = wait.folder
    }
    return false
  }

  private mutating func isBack(_ due: DueRemoval) throws(TransferError) -> Bool {
    guard let places = try places(of: due.batch) else { return false }
    guard let relative = places.relative(due.path, root: due.root) else { return true }
    if places.open.count > SourcePlaces.openAtMost { places.release() }
    guard places.isThere else { return false }
    let folder = places.folder(of: relative)
    guard folder >= 0 else { return try canDecide(errno, relative, places, due.batch) }
    guard Self.isThere(relative.lastComponent, in: folder) else {
      return try canDecide(errno, relative, places, due.batch)
    }
    return Self.canBeChanged(folder)
  }

  /// False with `errno`.
  static func isThere(_ name: NameBytes, in folder: Int32) -> Bool {
    var status = csys_file_status()
    return name.withCString { csys_status_at(folder, $0, 0, &status) } == 0
  }

  /// Whether nothing is known that keeps an engine from removing a source of this folder.
  static func canBeChanged(_ folder: Int32) -> Bool {
    // A read-only file system refuses this also to root (access(2)).
    faccessat(folder, ".", W_OK, 0) == 0 || !RemovalEnd.isPassing(errno)
  }

  /// Whether an engine can decide about a source that could not be opened.
  private func canDecide(
    _ code: Int32, _ relative: NameBytes, _ places: SourcePlaces, _ batch: BatchID
  ) throws(TransferError) -> Bool {
    code == ENOENT ? try isMounted(relative, places, batch) : !RemovalEnd.isPassing(code)
  }

  /// Whether nothing has the path of a source, on a file system that is mounted.
  mutating func isGone(_ source: AwaitingSource) throws(TransferError) -> Bool {
    guard let places = try places(of: source.batch),
      let relative = places.relative(source.path, root: source.root)
    else { return false }
    if places.open.count > SourcePlaces.openAtMost { places.release() }
    // On a file system that is not mounted, nothing is known to be gone.
    guard places.isGone(relative) else { return false }
    return try isMounted(relative, places, source.batch)
  }

  private func isMounted(_ relative: NameBytes, _ places: SourcePlaces, _ batch: BatchID) throws(TransferError) -> Bool
  {
    try places.isMounted(relative) { path throws(TransferError) in
      try ledger.read { reader in try reader.sourceFolder(path, of: batch) }
    }
  }

  private mutating func places(of batch: BatchID) throws(TransferError) -> SourcePlaces? {
    if let known = places[batch] { return known }
    let settings = try ledger.read { reader in try reader.batchSettings(batch) }
    let found = settings?.after.map { SourcePlaces($0) }
    places[batch] = .some(found)
    return found
  }
}
