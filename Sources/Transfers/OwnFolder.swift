package import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A folder for this user's files inside of one that others may write to.
package enum OwnFolder {
  /// The folder of a file; nil when it is not UTF-8.
  package static func folder(of file: NameBytes) -> String? {
    NameBytes(Array(file.bytes.dropLast(file.lastComponent.bytes.count))).utf8.map { $0.isEmpty ? "." : $0 }
  }

  /// Creates the folder if it does not exist, with mode 0700.
  /// - Throws: `.storeIO` when it cannot be created, is a link, or belongs to another user.
  package static func make(_ folder: String, _ remedy: String) throws(TransferError) {
    var status = stat()
    let isThere = mkdir(folder, 0o700) == 0 || errno == EEXIST
    if isThere, lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() { return }
    let cause = isThere ? "it is not a folder of this user" : systemText(errno)
    throw TransferError(.storeIO, "make folder", NameBytes(folder), cause: cause, remedy: remedy)
  }
}
