import CSys
import Glibc
import TransferModel

extension StoreCondition {
  /// Examines `path` now.
  package init(at path: String) {
    let (parent, name) = StoreFile.split(path)
    let real = realpath(parent, nil).map { pointer in
      defer { free(pointer) }
      return String(cString: pointer)
    }
    let folder = real ?? parent
    let path = real.map { ($0 == "/" ? "" : $0) + "/" + name } ?? path
    let (file, place) = (Self.status(path), Self.status(folder))
    self.init(
      path: path, exists: file.map { $0.st_mode & S_IFMT == S_IFREG } ?? false,
      mode: file.map { UInt32($0.st_mode) & 0o7777 }, isOwn: file.map { $0.st_uid == geteuid() } ?? true,
      folderExists: place.map { $0.st_mode & S_IFMT == S_IFDIR } ?? false,
      folderIsWritable: access(folder, W_OK | X_OK) == 0, folderMode: place.map { UInt32($0.st_mode) & 0o7777 },
      walBytes: Self.status(path + "-wal").map { Int64($0.st_size) } ?? 0, walReaders: Self.readers(path + "-shm"),
      freeBytes: [csys_free_bytes(folder)].first { $0 >= 0 },
      unsafeFileSystem: csys_unsafe_filesystem(folder).map { String(cString: $0) }, lock: Self.lock(path + ".lock"))
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  /// Reads the kernel's list instead of trying the lock, so that an engine that starts at this moment can take it.
  private static func lock(_ path: String) -> Lock {
    guard let file = status(path) else { return .free }
    guard access("/proc/locks", R_OK) == 0 else { return .unknown }
    guard let holder = LockHolder.first(of: file), holder.isAlone else { return .free }
    return .held(pid: holder.pid)
  }

  /// The process that keeps all writers waiting, if it has done so for a second: most checkpoints take less, that of a
  /// long log or an upgrade takes more, and a stopped process does not continue.
  package func gateHolder() -> GateHolder? {
    guard let file = Self.status(path + ".gate") else { return nil }
    let first = LockHolder.first(of: file)
    for _ in 0..<20 {
      guard let holder = LockHolder.first(of: file), holder.isAlone, holder.pid == first?.pid else { return nil }
      usleep(50_000)
    }
    return first.map { GateHolder(words: $0.words, isStopped: $0.isStopped) }
  }

  /// Holders of SQLite's read marks: shared locks on the bytes 123 to 127 of the shared memory. The first is for
  /// readers that need nothing from the log; a checkpoint must not write to the database while they read it either.
  /// Source: WALINDEX_LOCK_OFFSET, WAL_READ_LOCK and walCheckpoint in src/wal.c, 3.40.1.
  private static func readers(_ path: String) -> [Int32] {
    status(path).map { LockHolder.sharing(123...127, of: $0) } ?? []
  }
}
