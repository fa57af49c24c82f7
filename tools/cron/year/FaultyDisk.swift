import CSQLite
import Glibc
import TransferModel

/// The disk below the ledgers of a year: SQLite's own file system with a fault at a chosen write. A crash is the end of
/// all writes: what the engine does afterwards in memory never reaches the disk, as after SIGKILL. The files of other
/// ledgers of this process are passed to SQLite's own file system unchanged.
enum FaultyDisk {
  enum Fault: Sendable, Hashable {
    /// This write and all later ones do not happen.
    case crash
    /// The disk is full for this write and this many later ones.
    case full(writes: Int)
  }

  private struct State {
    var folder = ""
    var fault: Fault?
    /// The number of writes until the fault; it continues to count below 0.
    var left = 0
    var methods: [UnsafePointer<sqlite3_io_methods>: UnsafePointer<sqlite3_io_methods>] = [:]
    var originals: [UnsafePointer<sqlite3_io_methods>: UnsafePointer<sqlite3_io_methods>] = [:]
  }

  nonisolated(unsafe) private static let original: UnsafeMutablePointer<sqlite3_vfs>? = sqlite3_vfs_find(nil)
  private static let state = Lock(State())

  /// Registers itself for all ledgers that are opened below `folder` from now on; one folder per process.
  static func install(below folder: String) {
    state.withLock { $0.folder = folder }
    _ = registered
  }

  private static let registered: Bool = {
    guard let original else { return false }
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    vfs.initialize(to: original.pointee)
    vfs.pointee.pNext = nil
    vfs.pointee.zName = UnsafePointer(strdup("faulty"))
    vfs.pointee.xOpen = { vfs, name, file, flags, outFlags in
      FaultyDisk.open(vfs, name, file, flags, outFlags)
    }
    return sqlite3_vfs_register(vfs, 1) == SQLITE_OK
  }()

  /// The fault occurs at the write after this many. nil ends the current fault.
  static func plan(_ fault: Fault?, afterWrites writes: Int = 0) {
    state.withLock { ($0.fault, $0.left) = (fault, writes) }
  }

  /// Whether the fault has occurred.
  static var hasStruck: Bool { state.withLock { $0.fault != nil && $0.left < 0 } }

  private static func open(
    _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    let code = original?.pointee.xOpen?(vfs, name, file, flags, outFlags) ?? SQLITE_ERROR
    guard code == SQLITE_OK, let file, let methods = file.pointee.pMethods, let name else { return code }
    state.withLock { state in
      guard !state.folder.isEmpty, String(cString: name).hasPrefix(state.folder) else { return }
      file.pointee.pMethods = state.methods[methods] ?? wrapped(methods, &state)
    }
    return code
  }

  private static func wrapped(
    _ methods: UnsafePointer<sqlite3_io_methods>, _ state: inout State
  ) -> UnsafePointer<sqlite3_io_methods> {
    let own = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    own.initialize(to: methods.pointee)
    own.pointee.xWrite = { file, bytes, count, offset in
      FaultyDisk.verdict(isWrite: true) ?? FaultyDisk.beneath(file)?.xWrite?(file, bytes, count, offset) ?? SQLITE_ERROR
    }
    own.pointee.xTruncate = { file, size in
      FaultyDisk.verdict(isWrite: false) ?? FaultyDisk.beneath(file)?.xTruncate?(file, size) ?? SQLITE_ERROR
    }
    own.pointee.xSync = { file, flags in
      FaultyDisk.verdict(isWrite: false) ?? FaultyDisk.beneath(file)?.xSync?(file, flags) ?? SQLITE_ERROR
    }
    state.methods[methods] = UnsafePointer(own)
    state.originals[UnsafePointer(own)] = methods
    return UnsafePointer(own)
  }

  private static func beneath(_ file: UnsafeMutablePointer<sqlite3_file>?) -> sqlite3_io_methods? {
    guard let own = file?.pointee.pMethods else { return nil }
    return state.withLock { $0.originals[own]?.pointee }
  }

  /// The error with which a call fails; nil if it does not.
  private static func verdict(isWrite: Bool) -> Int32? {
    state.withLock { state in
      guard let fault = state.fault else { return nil }
      if isWrite || state.left < 0 { state.left -= 1 }
      guard state.left < 0 else { return nil }
      switch fault {
      case .crash: return SQLITE_IOERR | (isWrite ? 3 << 8 : 4 << 8)
      case .full(let writes): return isWrite && -state.left <= writes ? SQLITE_FULL : nil
      }
    }
  }
}
