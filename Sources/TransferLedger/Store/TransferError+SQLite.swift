import CSQLite
import Glibc
import TransferModel

extension TransferError {
  /// Translates a failure of SQLite for the ledger at `path`.
  init(_ error: SQLiteError, _ operation: String, path: String) {
    let (kind, remedy): (Kind, String) =
      switch error.primary {
      case SQLITE_FULL: (.storeFull, "free space on its disk and run \"transfers run\"")
      case SQLITE_CORRUPT: (.storeCorrupt, "keep the file, and see \"transfers store check\"")
      case SQLITE_NOTADB: (.storeCorrupt, "check that it is a ledger, or specify another file with --store")
      case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: (.storeReadOnly, "check its permissions")
      case SQLITE_BUSY, SQLITE_LOCKED: (.storeBusy, "another process has locked it; try again")
      case SQLITE_IOERR: (.storeIO, "check its disk and the system log")
      case SQLITE_CANTOPEN: (.storeIO, "check the permissions of the file and of its folder")
      // An aggregate that overflows, or invalid JSON: values that this program never stores.
      case SQLITE_ERROR where ["integer overflow", "malformed JSON"].contains(error.message):
        (.storeCorrupt, "keep the file, and see \"transfers store check\"")
      case SQLITE_NOMEM: (.storeIO, "not enough memory")
      default: (.bug, "please report it")
      }
    self.init(kind, operation, NameBytes(path), cause: error.description, remedy: remedy)
  }

  /// The same for any error that a body threw.
  init(any error: any Error, _ operation: String, path: String) {
    switch error {
    case let error as TransferError: self = error
    case let error as SQLiteError: self.init(error, operation, path: path)
    default: self.init(.bug, operation, NameBytes(path), cause: "\(error)")
    }
  }

  /// A system call failed.
  init(errno code: Int32, _ operation: String, path: String) {
    let (kind, remedy): (Kind, String) =
      switch code {
      case ENOENT: (.storeMissing, "check the path: its folder must exist and accept files")
      case EACCES, EPERM, EROFS: (.storeReadOnly, "check its permissions")
      case ENOSPC, EDQUOT: (.storeFull, "free space on its disk")
      default: (.storeIO, "check its disk and the system log, or choose another place")
      }
    self.init(kind, operation, NameBytes(path), cause: systemText(code), remedy: remedy)
  }
}
