import CSys
import Glibc
import TransferModel

/// The file of a ledger on disk, before SQLite opens it. We never open it while SQLite may have it open: closing any
/// descriptor of it would drop SQLite's locks (https://sqlite.org/howtocorrupt.html section 2.2).
struct StoreFile {
  /// Absolute; its folder contains no symbolic links.
  let path: String
  let exists: Bool
  /// Whether its file system has locks that SQLite can rely on.
  let hasSafeLocks: Bool

  /// Examines `path`. Refuses symbolic links, files with several hard links, other kinds of file, and file systems
  /// where WAL is not safe. With `makesFolder`, missing folders are created with mode 0700. With `isOnlyRead`, any file
  /// system is accepted.
  init(at path: String, makesFolder: Bool, isOnlyRead: Bool = false) throws(TransferError) {
    let (folder, name) = Self.split(path)
    guard !name.isEmpty, name != ".", name != ".." else {
      throw TransferError(.usage, "open store", NameBytes(path), cause: "it is not a file name")
    }
    if makesFolder { try Self.makeFolder(folder, for: path) }
    guard let real = realpath(folder, nil) else { throw Self.missing(path, errno) }
    defer { free(real) }
    let parent = String(cString: real)
    self.path = (parent == "/" ? "" : parent) + "/" + name
    exists = try Self.inspect(self.path)
    let unsafe = csys_unsafe_filesystem(parent)
    hasSafeLocks = unsafe == nil
    if let type = unsafe, !isOnlyRead {
      throw TransferError(
        .storeUnsuitable, "open store", NameBytes(path),
        cause: "\(String(cString: type)) file system: its locks are not safe for a ledger",
        remedy: "put it on a local disk with --store")
    }
  }

  /// Creates an empty file with mode 0600, whatever the umask. Another process may already have created it.
  func create() throws(TransferError) {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST { return }
      throw TransferError(errno: errno, "make store", path: path)
    }
    defer { Glibc.close(descriptor) }
    guard fchmod(descriptor, 0o600) == 0 else { throw TransferError(errno: errno, "make store", path: path) }
    try Self.syncFolder(Self.split(path).folder, for: path)
  }

  /// Makes the entries of a folder durable: SQLite does that for its log, but not for an existing file.
  private static func syncFolder(_ folder: String, for path: String) throws(TransferError) {
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw TransferError(errno: errno, "make store", path: path) }
    defer { Glibc.close(descriptor) }
    guard syncFolderNames(descriptor) == 0 else { throw TransferError(errno: errno, "make store", path: path) }
  }

  /// Bytes in the write-ahead log; 0 if there is none.
  var walSize: Int64 { Self.status(path + "-wal").map { Int64($0.st_size) } ?? 0 }

  /// There is a write-ahead log, or a rollback journal from before the ledger had one.
  var hasLog: Bool { ["-wal", "-journal"].contains { Self.status(path + $0) != nil } }

  /// Changes whenever another process writes to a file that is read without locks; nil if part of the content is in the
  /// log. Its last number says whether there is a log.
  var unlockedState: [Int]? { walSize == 0 ? stamp + [hasLog ? 1 : 0] : nil }

  /// Changes whenever a checkpoint wrote to the file.
  var stamp: [Int] {
    guard let s = Self.status(path) else { return [] }
    return [Int(s.st_ino), Int(s.st_size), s.st_mtim.tv_sec, s.st_mtim.tv_nsec]
  }

  private static func inspect(_ path: String) throws(TransferError) -> Bool {
    guard let status = status(path) else {
      if errno == ENOENT { return false }
      throw TransferError(errno: errno, "open store", path: path)
    }
    let loss = "SQLite would miss its log under the other name"
    let problem: String? =
      switch status.st_mode & S_IFMT {
      case S_IFREG: status.st_nlink > 1 ? "it has another name (hard link); \(loss)" : nil
      case S_IFLNK: "it is a symbolic link; \(loss)"
      case S_IFDIR: "it is a folder"
      default: "it is not a regular file"
      }
    guard let problem else { return true }
    throw TransferError(
      .storeUnsuitable, "open store", NameBytes(path),
      cause: problem, remedy: "specify the file itself with --store")
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  private static func missing(_ path: String, _ code: Int32) -> TransferError {
    guard code == ENOENT || code == ENOTDIR else { return TransferError(errno: code, "open store", path: path) }
    return TransferError(
      .storeMissing, "open store", NameBytes(path), cause: "it does not exist",
      remedy: "\"transfers push\" creates one, or specify another with --store")
  }

  /// The error for a ledger that does not exist.
  var missingError: TransferError { Self.missing(path, ENOENT) }

  private static func makeFolder(_ folder: String, for path: String) throws(TransferError) {
    if access(folder, F_OK) == 0 { return }
    let parent = split(folder).folder
    if parent != folder { try makeFolder(parent, for: path) }
    if mkdir(folder, 0o700) == 0 { return try syncFolder(parent, for: path) }
    guard errno == EEXIST else { throw TransferError(errno: errno, "make folder of store", path: path) }
  }

  static func split(_ path: String) -> (folder: String, name: String) {
    let trimmed = path.last == "/" && path != "/" ? String(path.dropLast()) : path
    guard let slash = trimmed.lastIndex(of: "/") else { return (".", trimmed) }
    return (
      slash == trimmed.startIndex ? "/" : String(trimmed[..<slash]), String(trimmed[trimmed.index(after: slash)...])
    )
  }
}
