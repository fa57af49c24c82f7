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

  package init(
    path: String, exists: Bool, mode: UInt32?, isOwn: Bool, folderExists: Bool, folderIsWritable: Bool,
    folderMode: UInt32?, walBytes: Int64, walReaders: [Int32], freeBytes: Int64?, unsafeFileSystem: String?, lock: Lock
  ) {
    self.path = path
    self.exists = exists
    self.mode = mode
    self.isOwn = isOwn
    self.folderExists = folderExists
    self.folderIsWritable = folderIsWritable
    self.folderMode = folderMode
    self.walBytes = walBytes
    self.walReaders = walReaders
    self.freeBytes = freeBytes
    self.unsafeFileSystem = unsafeFileSystem
    self.lock = lock
  }
}
