import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The open partial file of a download: written at any place, read for digests, synced, and moved to its final name
/// when all of it is there. The descriptor is closed with the last reference. All calls block.
final class TargetFile: ReadableFile {
  let descriptor: Int32
  /// Inode, device and boot say which file it is; the rest changes with each write.
  let identity: SourceIdentity
  /// Takes room only for what is not zero; it has its full length as soon as that is known.
  let isSparse: Bool
  private let reserved = Lock<Int64>(0)
  /// Of a partial file; nil for a file with its final name, which is not ours to remove.
  private let names: TargetNames?
  private let syncs: FileSyncs
  /// Held by each sync, so that the one that is told of a lost write is followed by none that is not.
  private let loss = Lock<Failure?>(nil)

  private init(
    _ descriptor: Int32, _ names: TargetNames?, isSparse: Bool = false, _ syncs: FileSyncs
  ) throws(Failure) {
    (self.isSparse, self.names, self.syncs) = (isSparse, names, syncs)
    var status = csys_file_status()
    guard csys_status_fd(descriptor, &status) == 0 else {
      let code = errno
      close(descriptor)
      throw Self.failure("examine the partial file", code)
    }
    self.descriptor = descriptor
    identity = SourceIdentity(status)
  }

  deinit { close(descriptor) }

  /// What the kernel says of it now; nil when it does not.
  var identityNow: SourceIdentity? {
    var status = csys_file_status()
    return csys_status_fd(descriptor, &status) == 0 ? SourceIdentity(status) : nil
  }

  /// Makes the partial file, for this user alone, and the folders that lead to it. One that is there under this name,
  /// which no other file can have, was made by an engine that ended before it could say so; it holds nothing that is
  /// known.
  convenience init(
    making names: TargetNames, isSparse: Bool = false, _ syncs: FileSyncs = .system
  ) throws(Failure) {
    try self.init(making: names, in: try TargetFolder(making: names), isSparse: isSparse, syncs)
  }

  /// The same in its folder.
  convenience init(
    making names: TargetNames, in folder: TargetFolder, isSparse: Bool = false, _ syncs: FileSyncs = .system
  ) throws(Failure) {
    try self.init(try Self.make(names.partial, in: folder), names, isSparse: isSparse, syncs)
  }

  /// Left free for others, the ledger among them, in bytes.
  static let roomLeft: Int64 = 64 << 20

  /// Makes room for a file of `size` bytes, so that a disk that is too small is known before it is full. Nothing is
  /// taken of the disk when there is not enough: a server may say anything of its file.
  func reserve(_ size: Int64) throws(Failure) {
    try reserved.withLock { reserved throws(Failure) in
      guard reserved < size else { return }
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw Self.failure("examine the partial file", errno) }
      if isSparse {
        try lengthen(to: size, from: Int64(status.st_size))
        return reserved = size
      }
      let (missing, free) = (size - Int64(status.st_blocks) * 512, freeBytes)
      guard missing <= 0 || free < 0 || missing <= free - Self.roomLeft else {
        let room = "the disk has \(max(0, free)), of which \(Self.roomLeft) are left to others"
        throw Failure(.localDiskFull, "\(missing) bytes of the file are to be stored, and \(room)", systemError: ENOSPC)
      }
      guard csys_preallocate(descriptor, size) == 0 else {
        let code = errno
        // What a failed request got of the disk lies behind the end of the file.
        _ = ftruncate(descriptor, status.st_size)
        throw Self.failure("make room for \(size) bytes", code)
      }
      reserved = size
    }
  }

  /// Before anything is written behind its end, so that no other writer is behind it.
  private func lengthen(to size: Int64, from now: Int64) throws(Failure) {
    guard now < size, ftruncate(descriptor, off_t(size)) != 0 else { return }
    throw Self.failure("make a file of \(size) bytes", errno)
  }

  /// Makes zeros of a range, which take no room where the file system can do that (fallocate(2), Linux 2.6.38).
  func clear(_ range: ByteRange) throws(Failure) {
    guard csys_punch_hole(descriptor, range.offset, range.length) != 0 else { return }
    guard errno == EOPNOTSUPP || errno == ENOSYS else { throw Self.failure("free room", errno) }
    try writeZeros(range)
  }

  func writeZeros(_ range: ByteRange) throws(Failure) {
    guard range.length > 0 else { return }
    let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(min(range.length, 1 << 20)), alignment: 16)
    defer { zeros.deallocate() }
    zeros.initializeMemory(as: UInt8.self, repeating: 0)
    for offset in stride(from: range.offset, to: range.end, by: zeros.count) {
      let part = min(Int64(zeros.count), range.end - offset)
      try write(UnsafeRawBufferPointer(rebasing: zeros[..<Int(part)]), at: offset)
    }
  }

  /// What its file system gives room in, in bytes: 4 KiB at least.
  var blockSize: Int64 {
    var disk = statvfs()
    return fstatvfs(descriptor, &disk) == 0 ? max(4_096, Int64(disk.f_frsize)) : 4_096
  }

  /// Forgets what an earlier body wrote, of which nothing is known to be of use.
  func empty() throws(Failure) {
    reserved.withLock { $0 = 0 }
    guard ftruncate(descriptor, 0) == 0 else { throw Self.failure("empty the partial file", errno) }
  }

  /// What is left of the disk, in bytes; -1 when it cannot be known.
  var freeBytes: Int64 {
    var disk = statvfs()
    return fstatvfs(descriptor, &disk) == 0 ? Int64(disk.f_bavail) * Int64(disk.f_frsize) : -1
  }

  /// Whether the file has exactly `bytes` at `offset`.
  func holds(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) -> Bool {
    let stored = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    defer { stored.deallocate() }
    do throws(Failure) { try fill(stored, at: offset) } catch {
      throw Failure(.localIO, "cannot read the partial file at byte \(offset)", systemError: error.systemError)
    }
    return memcmp(stored.baseAddress!, bytes.baseAddress!, bytes.count) == 0
  }

  private static func make(_ name: NameBytes, in folder: TargetFolder) throws(Failure) -> Int32 {
    let flags = O_RDWR | O_CREAT | O_EXCL
    var descriptor = folder.open(name, flags, mode: 0o600)
    if descriptor < 0, errno == EEXIST, folder.remove(name) == 0 {
      descriptor = folder.open(name, flags, mode: 0o600)
    }
    guard descriptor >= 0 else { throw failure("make the partial file", errno) }
    return descriptor
  }

  /// Opens the partial file that was noted as `known`; nil when it is not there any more, or is another one.
  convenience init?(
    opening names: TargetNames, _ known: SourceIdentity, isSparse: Bool = false, _ syncs: FileSyncs = .system
  ) throws(Failure) {
    guard let folder = try TargetFolder(of: names) else { return nil }
    try self.init(opening: names, in: folder, known, isSparse: isSparse, syncs)
  }

  /// The same in its folder.
  convenience init?(
    opening names: TargetNames, in folder: TargetFolder, _ known: SourceIdentity, isSparse: Bool = false,
    _ syncs: FileSyncs = .system
  ) throws(Failure) {
    let descriptor = folder.open(names.partial, O_RDWR | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ELOOP || errno == ENXIO || errno == EISDIR { return nil }
      throw Self.failure("open the partial file", errno)
    }
    try self.init(descriptor, names, isSparse: isSparse, syncs)
    guard identity.isSameFile(as: known) else { return nil }
  }

  /// Opens the file with the final name for reading; nil when it is missing or not a regular file.
  convenience init?(
    placed names: TargetNames, in folder: TargetFolder, _ syncs: FileSyncs = .system
  ) throws(Failure) {
    let descriptor = folder.open(names.name, O_RDONLY | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ELOOP || errno == ENXIO { return nil }
      throw Self.failure("open the file", errno)
    }
    var status = csys_file_status()
    let isRegular = csys_status_fd(descriptor, &status) == 0 && status.mode & S_IFMT == S_IFREG
    try self.init(descriptor, nil, syncs)
    guard isRegular else { return nil }
  }

  /// Writes all of `bytes` at `offset`, in bytes from the start of the file.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
    var done = 0
    while done < bytes.count {
      let count = pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done))
      if count < 0 {
        if errno == EINTR { continue }
        throw Self.failure("write at byte \(offset + Int64(done))", errno)
      }
      done += count
    }
  }

  /// What was written is on its way to the disk. A failure is one of ``sync()``, which need not fail then.
  func beginSync() throws(Failure) {
    guard csys_begin_writing(descriptor) != 0 else { return }
    let code = errno
    throw loss.withLock { lost(&$0, code) }
  }

  /// What was written is on the disk when this returns. When it throws, the partial file is lost for good: its name is
  /// removed, so that no engine goes on with it, and each later sync of it throws too.
  func sync() throws(Failure) { try sync(syncs.data) }

  /// The same for its permissions and its times.
  func syncAll() throws(Failure) { try sync(syncs.all) }

  private func sync(_ call: FileSyncs.Call) throws(Failure) {
    try loss.withLock { loss throws(Failure) in
      if let loss { throw loss }
      while call(descriptor) != 0 {
        guard errno == EINTR else { throw lost(&loss, errno) }
      }
    }
  }

  private func lost(_ loss: inout Failure?, _ code: Int32) -> Failure {
    if let loss { return loss }
    var failure = Self.failure("sync the file", code)
    failure.message += "; nothing that was written to it counts"
    failure.isLostWrite = true
    loss = failure
    if let names, let folder = try? TargetFolder(of: names), folder.holds(names.partial, identity) {
      _ = folder.remove(names.partial)
    }
    return failure
  }

  /// What is read from now on comes from the disk, as far as the kernel allows that: what was synced leaves its cache,
  /// in which a write that was lost would still be seen.
  func dropCache() { posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }

  /// No partial file of these names is there when this returns, and none comes back with a power cut: nobody would look
  /// for it then. Blocking.
  static func remove(_ names: TargetNames) throws(Failure) {
    guard let folder = try TargetFolder(of: names) else { return }
    guard folder.remove(names.partial) == 0 || errno == ENOENT else { throw failure("remove the partial file", errno) }
    try folder.syncNames()
  }

  static func failure(_ what: String, _ code: Int32) -> Failure {
    let kind: ErrorCode =
      switch code {
      case ENOSPC, EDQUOT: .localDiskFull
      case EMFILE, ENFILE: .localFDLimit
      default: .localIO
      }
    return Failure(kind, "cannot \(what): \(systemText(code))", systemError: code)
  }
}

/// The system calls by which a file gets to the disk, or what stands for them in tests.
struct FileSyncs: Sendable {
  /// 0, or -1 with errno.
  typealias Call = @Sendable (Int32) -> Int32
  /// fdatasync(2).
  var data: Call
  /// fsync(2).
  var all: Call

  static let system = FileSyncs(data: { fdatasync($0) }, all: { fsync($0) })
}

extension SourceIdentity {
  /// The same file of the same disk, whatever was written to it.
  func isSameFile(as other: SourceIdentity) -> Bool {
    inode == other.inode && (device == other.device || boot != other.boot)
  }
}
