import CSys
import Glibc

/// What the file system and the kernel say of a ledger, without opening it as a database: nothing is created or locked.
public struct StoreCondition: Sendable, Hashable {
  public enum Lock: Sendable, Hashable {
    case free
    /// An engine has it; its process, when the kernel says which.
    case held(pid: Int32?)
    case unknown
  }

  /// Absolute, when its folder exists; else as it was asked for.
  public var path: String
  public var exists: Bool
  /// Permission bits; nil without a file.
  public var mode: UInt32?
  /// Whether this user owns the file.
  public var isOwn: Bool
  public var folderExists: Bool
  public var folderIsWritable: Bool
  public var folderMode: UInt32?
  /// Bytes in the write-ahead log.
  public var walBytes: Int64
  /// Processes other than this one that read a state of the ledger at this moment, as far as the kernel tells.
  public var walReaders: [Int32]
  /// Free for an ordinary user in its file system; nil when unknown.
  public var freeBytes: Int64?
  /// Name of the file system when a ledger is not safe on it.
  public var unsafeFileSystem: String?
  public var lock: Lock

  /// Looks at `path` now.
  public init(at path: String) {
    let (parent, name) = StoreFile.split(path)
    let real = realpath(parent, nil).map { pointer in
      defer { free(pointer) }
      return String(cString: pointer)
    }
    let folder = real ?? parent
    self.path = real.map { ($0 == "/" ? "" : $0) + "/" + name } ?? path
    let file = Self.status(self.path)
    exists = file.map { $0.st_mode & S_IFMT == S_IFREG } ?? false
    mode = file.map { UInt32($0.st_mode) & 0o7777 }
    isOwn = file.map { $0.st_uid == geteuid() } ?? true
    let place = Self.status(folder)
    folderExists = place.map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    folderMode = place.map { UInt32($0.st_mode) & 0o7777 }
    folderIsWritable = access(folder, W_OK | X_OK) == 0
    walBytes = Self.status(self.path + "-wal").map { Int64($0.st_size) } ?? 0
    walReaders = Self.readers(self.path + "-shm")
    freeBytes = [csys_free_bytes(folder)].first { $0 >= 0 }
    unsafeFileSystem = csys_unsafe_filesystem(folder).map { String(cString: $0) }
    lock = Self.lock(self.path + ".lock")
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  /// Reads the kernel's list instead of trying the lock, so that an engine that starts at this moment gets it.
  private static func lock(_ path: String) -> Lock {
    guard let file = status(path) else { return .free }
    guard access("/proc/locks", R_OK) == 0 else { return .unknown }
    guard let holder = LockHolder.first(of: file), holder.isAlone else { return .free }
    return .held(pid: holder.pid)
  }

  /// Who holds one of SQLite's read marks: shared locks on the bytes 123 to 127 of the shared memory, of which the first is for
  /// readers that need nothing of the log. Source: WALINDEX_LOCK_OFFSET and WAL_READ_LOCK in src/wal.c, 3.40.1;
  /// proc(5), /proc/locks: `2: POSIX  ADVISORY  READ 4711 fd:01:12345 124 124`.
  private static func readers(_ path: String) -> [Int32] {
    guard let file = status(path), let text = readAll("/proc/locks") else { return [] }
    var found: Set<Int32> = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", omittingEmptySubsequences: true)
      guard words.count >= 8, words[1] == "POSIX", words[3] == "READ", isPlace(words[5], of: file),
        let first = Int(words[6]), let last = Int(words[7]), first <= 127, last >= 124, let pid = Int32(words[4]),
        pid > 0, pid != getpid()
      else { continue }
      found.insert(pid)
    }
    return found.sorted()
  }

  /// Whether `fd:01:12345` names the file.
  private static func isPlace(_ text: Substring, of file: stat) -> Bool {
    let place = text.split(separator: ":")
    guard place.count == 3, let inode = UInt64(place[2]), inode == UInt64(file.st_ino),
      let major = UInt32(place[0], radix: 16), let minor = UInt32(place[1], radix: 16)
    else { return false }
    return csys_device(major, minor) == UInt64(file.st_dev)
  }

  private static func readAll(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
