import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension StagedCopies {
  /// While it exists, no process removes copies that no row names yet.
  final class Hold {
    private let descriptor: Int32

    fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }
  }

  /// Makes the folder if there is none.
  func hold() throws(TransferError) -> Hold {
    try makeFolder()
    let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard lock >= 0 else { throw unusable("open", errno) }
    let hold = Hold(lock)
    guard flock(lock, LOCK_SH) == 0 else { throw unusable("lock", errno) }
    return hold
  }

  /// Makes the names of all copies durable.
  func syncForAll() throws(TransferError) {
    do throws(Failure) { try syncFolder() } catch { throw notCopied(NameBytes(folder), error) }
  }
}
