import CSys
import Glibc
import TransferModel

/// The target file of a copy of a ledger. It is written under a temporary name in the same folder and renamed when it
/// is complete and durable; until then an existing file is not touched.
struct CopyTarget {
  let path: String
  /// Where the copy is made: an empty file with mode 0600.
  let temporary: String
  private let folder: String
  private let replaces: Bool

  /// Refuses existing files unless `replaces`, folders, and names that conflict with the files of another database.
  init(_ asked: String, replaces: Bool, ledger: String) throws(TransferError) {
    let (parent, name) = StoreFile.split(asked)
    guard !name.isEmpty, name != ".", name != ".." else {
      throw Self.refusal(asked, "it is not a file name")
    }
    guard let real = realpath(parent, nil) else { throw Self.missingFolder(asked, errno) }
    defer { free(real) }
    folder = String(cString: real)
    path = (folder == "/" ? "" : folder) + "/" + name
    temporary = (folder == "/" ? "" : folder) + "/.\(name).\(getpid()).part"
    self.replaces = replaces
    try Self.check(path, asked, replaces: replaces, ledger: ledger)
    let descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure(errno, asked) }
    close(descriptor)
  }

  private static func check(
    _ path: String, _ asked: String, replaces: Bool, ledger: String
  ) throws(TransferError) {
    for suffix in Ledger.fileSuffixes where path == ledger + suffix {
      throw refusal(asked, "it belongs to the ledger itself")
    }
    if let other = Ledger.database(owning: NameBytes(path)), other != NameBytes(path) {
      throw refusal(asked, "it belongs to the database \"\(other)\"")
    }
    if replaces { try removeEmptyLog(of: path) }
    for suffix in ["-wal", "-journal"] where access(path + suffix, F_OK) == 0 {
      throw refusal(asked, "\"\(NameBytes(path + suffix))\" exists: SQLite would mix it with the copy")
    }
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    if status.st_mode & S_IFMT == S_IFDIR { throw refusal(asked, "it is a folder") }
    if status.st_mode & S_IFMT != S_IFREG { throw refusal(asked, "it is not a regular file") }
    if !replaces {
      throw TransferError(
        .usage, "copy ledger to", NameBytes(asked), cause: "it exists", remedy: "use another name, or --force")
    }
  }

  /// Readers may have left an empty write-ahead log beside the file to be replaced. SQLite deletes it when the last
  /// writable connection closes, so this opens and closes one. The log remains while another process has the ledger
  /// open, and a log that is not empty is never touched. Source: https://sqlite.org/walformat.html section 1.
  private static func removeEmptyLog(of path: String) throws(TransferError) {
    let isEmpty = {
      var status = stat()
      return lstat(path + "-wal", &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
    }
    guard isEmpty() else { return }
    let gate = access(path + ".gate", F_OK) == 0 ? try SidecarLock(path: path + ".gate") : nil
    guard try gate?.tryLockExclusive() ?? true, isEmpty() else { return }
    guard let connection = try? Connection(path: path, access: .readWrite) else { return }
    _ = try? connection.first("PRAGMA schema_version") { $0.int64(0) }
  }

  /// Makes the copy durable and gives it its name. `mode` is its final file mode.
  func publish(mode: mode_t) throws(TransferError) {
    let descriptor = open(temporary, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { close(descriptor) }
    guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else { throw failure(errno) }
    let renamed = replaces ? rename(temporary, path) : csys_rename_exclusive(temporary, path)
    guard renamed == 0 else {
      if errno == EEXIST { throw Self.refusal(path, "it was created in the meantime") }
      throw failure(errno)
    }
    let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard parent >= 0 else { throw failure(errno) }
    defer { close(parent) }
    guard syncFolderNames(parent) == 0 else { throw failure(errno) }
  }

  /// Removes the unfinished copy.
  func abandon() {
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(temporary + suffix) }
  }

  var size: Int64 {
    var status = stat()
    return lstat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  private func failure(_ code: Int32) -> TransferError { Self.failure(code, path) }

  static func failure(_ code: Int32, _ path: String) -> TransferError {
    TransferError(errno: code, "copy ledger to", path: path)
  }

  private static func refusal(_ path: String, _ cause: String) -> TransferError {
    TransferError(.usage, "copy ledger to", NameBytes(path), cause: cause, remedy: "use another name")
  }

  private static func missingFolder(_ path: String, _ code: Int32) -> TransferError {
    guard code == ENOENT || code == ENOTDIR else { return failure(code, path) }
    return TransferError(
      .usage, "copy ledger to", NameBytes(path), cause: "its folder does not exist", remedy: "create the folder first")
  }
}
