import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The space that a partial file has on its disk. The descriptor is that of its owner, ``TargetFile``,
/// and must not be used after it. All calls block.
final class TargetSpace: Sendable {
  /// Disk space left free for others, including the ledger, when a file of this size is stored, in bytes: a quarter of
  /// it, at least 1 MiB and at most 64 MiB.
  static func room(besides size: Int64) -> Int64 { min(max(size / 4, 1 << 20), 64 << 20) }

  private let descriptor: Int32
  /// Space is used only for data that is not zero; the file gets its full length as soon as that is known.
  private let isSparse: Bool
  private let reserved = Lock<Int64>(0)

  init(of descriptor: Int32, isSparse: Bool) { (self.descriptor, self.isSparse) = (descriptor, isSparse) }

  /// Allocates space for a file of `size` bytes, so that a disk that is too small is detected before it is full.
  /// Nothing is allocated if there is not enough space: the size may be an arbitrary claim of a server.
  func reserve(_ size: Int64) throws(Failure) {
    try reserved.withLock { reserved throws(Failure) in
      guard reserved < size else { return }
      let status = try status()
      if isSparse {
        try lengthen(to: size, from: Int64(status.st_size))
        return reserved = size
      }
      try requireRoom(for: size, having: Int64(status.st_blocks) * 512)
      guard csys_preallocate(descriptor, size) == 0 else {
        let code = errno
        // Space that a failed allocation did get is behind the end of the file.
        _ = ftruncate(descriptor, status.st_size)
        throw TargetFile.failure("allocate \(size) bytes", code)
      }
      reserved = size
    }
  }

  /// Refuses a file of `size` bytes for which there is not enough space, before its first byte is written. A sparse
  /// file may take less.
  func requireRoom(for size: Int64) throws(Failure) {
    try reserved.withLock { reserved throws(Failure) in
      guard reserved < size, !isSparse else { return }
      try requireRoom(for: size, having: Int64(try status().st_blocks) * 512)
    }
  }

  private func status() throws(Failure) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw TargetFile.failure("examine the partial file", errno) }
    return status
  }

  private func requireRoom(for size: Int64, having allocated: Int64) throws(Failure) {
    var disk = statvfs()
    guard fstatvfs(descriptor, &disk) == 0 else { return }
    let (unit, missing, room) = (Int64(disk.f_frsize), size - allocated, Self.room(besides: size))
    let (free, whole) = (Int64(disk.f_bavail) * unit, Int64(disk.f_blocks) * unit)
    guard missing > 0, missing > free - room else { return }
    let text = "\(missing) bytes of the file are to be stored, and \(room) must stay free, but the disk has \(free)"
    throw Failure(.localDiskFull, text, systemError: size > whole && whole > 0 ? EFBIG : ENOSPC)
  }

  /// Called before any writer writes behind the current end, so that truncation cannot remove data.
  private func lengthen(to size: Int64, from now: Int64) throws(Failure) {
    guard now < size, ftruncate(descriptor, off_t(size)) != 0 else { return }
    throw TargetFile.failure("extend the file to \(size) bytes", errno)
  }

  /// Removes the data of an earlier body, none of which is known to be useful.
  func empty() throws(Failure) {
    reserved.withLock { $0 = 0 }
    guard ftruncate(descriptor, 0) == 0 else { throw TargetFile.failure("empty the partial file", errno) }
  }

  /// The unit in which its file system allocates space, in bytes: 4 KiB at least.
  var blockSize: Int64 {
    var disk = statvfs()
    return fstatvfs(descriptor, &disk) == 0 ? max(4_096, Int64(disk.f_frsize)) : 4_096
  }

  /// Free space on the disk, in bytes; -1 if unknown.
  var freeBytes: Int64 {
    var disk = statvfs()
    return fstatvfs(descriptor, &disk) == 0 ? Int64(disk.f_bavail) * Int64(disk.f_frsize) : -1
  }
}
