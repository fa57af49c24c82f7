import CSys
public import TransferLedger
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The folder beside a ledger with staged copies, which are sent instead of their sources. Blocking.
public struct StagedCopies: Sendable {
  let folder: String
  /// Free space on the disk of a folder, in bytes; negative if unknown.
  private let freeBytes: @Sendable (String) -> Int64

  /// - Parameter storePath: path of the ledger; the folder is created with the first copy.
  public init(storePath: String) { self.init(storePath: storePath) { csys_free_bytes($0) } }

  init(storePath: String, freeBytes: @escaping @Sendable (String) -> Int64) {
    (folder, self.freeBytes) = (storePath + Ledger.copiesSuffix, freeBytes)
  }

  func path(_ name: String) -> NameBytes { NameBytes("\(folder)/\(name)") }

  /// Unlinks a copy; copies left by a crash are removed later.
  func remove(_ name: String) { unlink("\(folder)/\(name)") }

  /// Copies the source of every file that waits for it, and makes the file ready. Each copy is durable before its file
  /// may be claimed; after a crash in between the copy is unreferenced until ``sweep(_:)`` removes it, and the file
  /// still waits. A source that changed meanwhile is not copied: the engine detects the change and begins its next
  /// generation. A file whose copy does not fit goes on waiting, and does not delay the others; so do all that are left
  /// when `isStopped` returns true.
  /// - Returns: the files whose copies do not fit.
  public func settle(
    _ ledger: Ledger, isStopped: @escaping @Sendable () -> Bool = { false }, notice: (Notice) -> Void
  ) throws(TransferError) -> [FileID] {
    let hold = try hold()
    defer { withExtendedLifetime(hold) {} }
    guard let first = try ledger.read({ reader in try reader.firstSettlingFile() }) else { return [] }
    var (last, waiting): (Int64, [FileID]) = (first.rawValue - 1, [])
    while true {
      let page = try ledger.read { [last] reader in try reader.settlingFiles(after: last, limit: 500) }
      guard let final = page.last else { return waiting }
      for file in page {
        if isStopped() { return waiting }
        if try !settle(file, ledger, ReadStop(isAsked: isStopped), notice) { waiting.append(file.id) }
      }
      last = final.id.rawValue
    }
  }

  /// The same for files left by an interrupted `add`; no effect if an `add` is running, or none are left.
  public func settleLeft(
    _ ledger: Ledger, isStopped: @escaping @Sendable () -> Bool, notice: (Notice) -> Void
  ) throws(TransferError) {
    guard try ledger.read({ reader in try reader.firstSettlingFile() }) != nil else { return }
    let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      close(lock)
      return
    }
    if lock >= 0 { close(lock) }
    _ = try settle(ledger, isStopped: isStopped, notice: notice)
  }

  /// False if it goes on waiting.
  private func settle(
    _ file: SettlingFile, _ ledger: Ledger, _ stop: ReadStop, _ notice: (Notice) -> Void
  ) throws(TransferError) -> Bool {
    let name = Self.newName()
    var staged: String?
    do throws(Failure) {
      if try copy(file, to: name, stop) { staged = name }
    } catch {
      remove(name)
      if error.code == .engineInterrupted { return false }
      guard error.isOfOneCopy else { throw notCopied(file.path, error) }
      notice(.failed(path: file.path, error))
      if !error.code.isOfSource {
        _ = try ledger.write { tx in try tx.noteUncopied(file.id, error) }
        return false
      }
    }
    let result = try ledger.write { [staged] tx in try tx.settle(file.id, staged: staged) }
    if !result.isApplied, staged != nil { remove(name) }
    return true
  }

  /// False if the source is no longer the recorded version.
  private func copy(_ file: SettlingFile, to name: String, _ stop: ReadStop) throws(Failure) -> Bool {
    let source = try SourceFile(path: file.path, root: file.root)
    guard file.identity.relation(to: source.identity) != .other else { return false }
    let whole = ByteRange(offset: 0, length: file.identity.size)
    try make(name, mtimeNs: file.identity.mtimeNs, from: source.descriptor, whole, stop)
    try syncFolder()
    let more = try source.hasMore(than: file.identity.size)
    guard try source.currentIdentity() == source.identity else { return false }
    if more { throw .ofUntrueSize(file.identity.size) }
    return true
  }

  static func newName() -> String {
    let uid = UID.make(wallMs: Int64(csys_realtime_ns() / 1_000_000))
    return hexText([uid.high, uid.low].flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
  }

  /// Disk space left free for the ledger, which has to record the copies, in bytes.
  private static let roomLeft: Int64 = 1 << 20
  /// How much is copied before a stop is noticed.
  private static let stepLength: Int64 = 16 << 20

  /// Makes a copy of a range of `source` with its mtime, and syncs it, but not the folder. Nothing is copied if it does
  /// not fit: other files, and other programs, need what is left.
  func make(
    _ name: String, mtimeNs: Int64, from source: Int32, _ range: ByteRange, _ stop: ReadStop = .never
  ) throws(Failure) {
    let target = open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard target >= 0 else { throw localFailure("create a file in \(folder)") }
    defer { close(target) }
    if !Self.shares(source, target, range) {
      // A clone that could not be shortened leaves bytes that the source may no longer have.
      if ftruncate(target, 0) != 0 { throw localFailure("empty the copy in \(folder)") }
      try requireSpace(range.length)
      try copy(range, of: source, to: target, stop)
    }
    if (0..<Self.roomLeft).contains(freeBytes(folder)) {
      errno = ENOSPC
      throw localFailure("copy it into \(folder)")
    }
    let modified = timespec(tv_sec: Int(mtimeNs / 1_000_000_000), tv_nsec: Int(mtimeNs % 1_000_000_000))
    var times = [modified, modified]
    if futimens(target, &times) != 0 || fsync(target) != 0 { throw localFailure("sync the copy in \(folder)") }
  }

  private func copy(_ range: ByteRange, of source: Int32, to target: Int32, _ stop: ReadStop) throws(Failure) {
    var done: Int64 = 0
    while done < range.length {
      if stop.isAsked() { throw Failure(.engineInterrupted, "stopped while the source was copied") }
      let length = min(Self.stepLength, range.length - done)
      if csys_copy_part(source, range.offset + done, target, done, length) != 0 {
        throw localFailure("copy it into \(folder)")
      }
      done += length
    }
  }

  /// Whether the copy shares the blocks of its source (XFS, Btrfs), and so takes no space. Where that is impossible,
  /// copying no bytes does nothing.
  private static func shares(_ source: Int32, _ target: Int32, _ range: ByteRange) -> Bool {
    guard range.offset == 0, csys_copy_file(source, target, 0) == 0 else { return false }
    var copy = stat()
    // The source may have grown.
    return fstat(target, &copy) == 0 && copy.st_size >= range.length && ftruncate(target, off_t(range.length)) == 0
  }

  private func requireSpace(_ length: Int64) throws(Failure) {
    let (free, room) = (freeBytes(folder), TargetSpace.room(besides: length))
    guard free >= 0, length > free - room else { return }
    let text = "the copy takes \(length) bytes, and \(room) must stay free, but the disk of \(folder) has \(free)"
    throw Failure(.localDiskFull, text + "; free space there and add it again", systemError: ENOSPC)
  }

  /// The folder is never removed, because another `add` may be about to lock it.
  func makeFolder() throws(TransferError) {
    guard mkdir(folder, 0o700) == 0 else {
      if errno != EEXIST { throw unusable("make", errno) }
      return
    }
    let parent = folder.lastIndex(of: "/").map { $0 == folder.startIndex ? "/" : String(folder[..<$0]) } ?? "."
    let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unusable("open the parent of", errno) }
    defer { close(descriptor) }
    if syncFolderNames(descriptor) != 0 { throw unusable("sync the parent of", errno) }
  }

  func syncFolder() throws(Failure) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw localFailure("open \(folder)") }
    defer { close(descriptor) }
    if syncFolderNames(descriptor) != 0 { throw localFailure("sync \(folder)") }
  }

  /// Also on a full disk it is `.storeIO`, which a run survives: the ledger may well have room (a quota, another disk).
  func unusable(_ what: String, _ code: Int32) -> TransferError {
    let isFull = code == ENOSPC || code == EDQUOT
    return TransferError(
      .storeIO, "\(what) the folder for copies", NameBytes(folder), cause: systemText(code),
      remedy: isFull ? "free space on its disk" : "fix it, or add without --stage and --growing segments")
  }

  func notCopied(_ path: NameBytes, _ failure: Failure) -> TransferError {
    TransferError(
      .storeIO, "copy the source", path, cause: failure.message,
      remedy: "fix the folder of copies and add again, which continues from here")
  }

  func localFailure(_ what: String) -> Failure {
    let code = errno
    let text = "cannot \(what): \(systemText(code))"
    return switch code {
    case ENOSPC, EDQUOT:
      Failure(.localDiskFull, text + "; free space there and add it again", systemError: code)
    case EFBIG:
      Failure(.localIO, text + "; allow longer files there (ulimit -f) and add it again", systemError: code)
    default: Failure(.localIO, text, systemError: code)
    }
  }

  /// Removes copies that are no longer needed: those of done, cancelled, superseded and removed files, and unreferenced
  /// ones from a crash. No effect while an `add` copies.
  public func sweep(_ ledger: Ledger) throws(TransferError) {
    guard let directory = opendir(folder) else { return }
    defer { closedir(directory) }
    guard flock(dirfd(directory), LOCK_EX | LOCK_NB) == 0 else { return }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard name.utf8.count == 32, try ledger.write({ tx in try tx.releaseStaged(name) }) else { continue }
      unlink("\(folder)/\(name)")
    }
  }
}

extension ErrorCode {
  /// The file itself is at fault, not the folder of copies.
  var isOfSource: Bool { rawValue.hasPrefix("source.") }
}

extension Failure {
  /// Other files may well be copied: this one cannot be read, or is too long for the space that is left.
  var isOfOneCopy: Bool { code.isOfSource || code == .localDiskFull || systemError == EFBIG }
}
