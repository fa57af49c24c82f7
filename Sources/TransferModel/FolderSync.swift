#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Makes the names in an open folder durable. Some file systems cannot sync a folder, most of them in user space, and
/// say so in one of these ways: their names are as durable as they make them.
/// - Parameter call: fsync(2), or its replacement in tests.
/// - Returns: 0, or -1 with errno.
package func syncFolderNames(_ descriptor: Int32, _ call: (Int32) -> Int32 = fsync) -> Int32 {
  guard call(descriptor) != 0 else { return 0 }
  return [EINVAL, EBADF, EOPNOTSUPP, ENOSYS].contains(errno) ? 0 : -1
}
