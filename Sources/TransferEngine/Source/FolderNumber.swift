import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Identifies a folder regardless of its names.
struct FolderNumber: Hashable {
  private let device: UInt64
  private let inode: UInt64

  init(_ status: csys_file_status) { (device, inode) = (status.device, status.inode) }

  /// Follows symbolic links. Returns nil if the folder does not exist.
  init?(_ path: NameBytes) {
    var status = csys_file_status()
    guard path.withCString({ csys_status_at(AT_FDCWD, $0, 1, &status) }) == 0, status.mode & S_IFMT == S_IFDIR else {
      return nil
    }
    self.init(status)
  }
}
