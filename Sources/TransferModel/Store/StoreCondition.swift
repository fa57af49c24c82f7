/// The condition of a ledger according to the file system and the kernel, without opening it as a database: nothing is
/// created or locked.
package struct StoreCondition: Sendable, Hashable {
  package enum Lock: Sendable, Hashable {
    case free
    /// An engine owns it; its process ID, if the kernel reports it.
    case held(pid: Int32?)
    case unknown
  }

  /// A process that keeps all writers waiting.
  package struct GateHolder: Sendable, Hashable {
    /// For people: its number, its name and, if it is stopped, that.
    package let words: String
    /// It does not continue by itself.
    package let isStopped: Bool

    package init(words: String, isStopped: Bool) { (self.words, self.isStopped) = (words, isStopped) }
  }

  /// Absolute, if its folder exists; else as given.
  package var path: String
  package var exists: Bool
  /// Permission bits; nil without a file.
  package var mode: UInt32?
  /// Whether this user owns the file.
  package var isOwn: Bool
  package var folderExists: Bool
  package var folderIsWritable: Bool
  package var folderMode: UInt32?
  /// Bytes in the write-ahead log.
  package var walBytes: Int64
  /// Other processes that are reading the ledger at this moment, as far as the kernel reports them.
  package var walReaders: [Int32]
  /// Free for an ordinary user in its file system; nil when unknown.
  package var freeBytes: Int64?
  /// Name of the file system when a ledger is not safe on it.
  package var unsafeFileSystem: String?
  package var lock: Lock

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
