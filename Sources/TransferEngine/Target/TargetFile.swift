import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The open partial file of a download: written at any offset, read for digests, synced, and renamed to its final name
/// when it is complete. The descriptor is closed with the last reference. All calls block.
final class TargetFile: ReadableFile {
  let descriptor: Int32
  /// Inode, device and boot identify the file; the other values change with each write.
  let identity: SourceIdentity
  /// Space is used only for data that is not zero; the file gets its full length as soon as that is known.
  let isSparse: Bool
  private let space: TargetSpace
  private let syncs: TargetSyncs
  /// The ends of the ranges that arrived since it was opened, by their starts; not all of them are durable.
  private let arrivals = Lock<[Int64: Int64]>([:])

  private init(
    _ descriptor: Int32, _ names: TargetNames?, isSparse: Bool = false, _ syncs: FileSyncs
  ) throws(Failure) {
    self.isSparse = isSparse
    var status = csys_file_status()
    guard csys_status_fd(descriptor, &status) == 0 else {
      let code = errno
      close(descriptor)
      throw Self.failure("examine the partial file", code)
    }
    self.descriptor = descriptor
    identity = SourceIdentity(status)
    space = TargetSpace(of: descriptor, isSparse: isSparse)
    self.syncs = TargetSyncs(descriptor, identity, names, syncs)
  }

  deinit { close(descriptor) }

  /// See ``TargetSpace/reserve(_:)``.
  func reserve(_ size: Int64) throws(Failure) { try space.reserve(size) }
  /// See ``TargetSpace/requireRoom(for:)``.
  func requireRoom(for size: Int64) throws(Failure) { try space.requireRoom(for: size) }
  /// See ``TargetSpace/empty()``.
  func empty() throws(Failure) {
    arrivals.withLock { $0 = [:] }
    try space.empty()
  }

  /// Bytes from `start` to `end` arrived from the server, and were written.
  func noteArrival(from start: Int64, to end: Int64) { arrivals.withLock { $0[start] = max(end, $0[start] ?? end) } }

  /// The ranges that arrived since it was opened.
  var arrived: [ByteRange] {
    arrivals.withLock { $0 }.map { ByteRange(offset: $0.key, length: $0.value - $0.key) }
  }

  var blockSize: Int64 { space.blockSize }
  var freeBytes: Int64 { space.freeBytes }

  /// SEEK_DATA of <unistd.h>, where it needs _GNU_SOURCE (lseek(2), Linux 3.1).
  private static let seekData: Int32 = 3

  /// Whether nothing was written to it, except zeros for which no space is used.
  var hasNoData: Bool { lseek(descriptor, 0, Self.seekData) < 0 && errno == ENXIO }

  /// The current identity; nil if the kernel does not report it.
  var identityNow: SourceIdentity? {
    var status = csys_file_status()
    return csys_status_fd(descriptor, &status) == 0 ? SourceIdentity(status) : nil
  }

  /// Creates the partial file, readable by this user only, and the folders that lead to it. An existing file with this
  /// name, which no other file can have, was created by an engine that ended before it could record it; its contents
  /// are unknown.
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

  /// O_TMPFILE of <fcntl.h>, where it needs _GNU_SOURCE (open(2), Linux 3.11).
  private static let noName: Int32 = 0o20_000_000 | O_DIRECTORY

  /// Creates a file without a name in the folder; nil if that is not possible there, or if it could not get a name
  /// later.
  convenience init?(unnamed names: TargetNames, in folder: TargetFolder, _ syncs: FileSyncs = .system) throws(Failure) {
    let descriptor = folder.open(NameBytes("."), O_RDWR | Self.noName, mode: 0o600)
    guard descriptor >= 0 else { return nil }
    guard access("/proc/self/fd/\(descriptor)", F_OK) == 0, fchmod(descriptor, 0o600) == 0 else {
      close(descriptor)
      return nil
    }
    try self.init(descriptor, names, syncs)
  }

  /// Clears a range to zeros, which use no space if the file system supports that (fallocate(2), Linux 2.6.38).
  func clear(_ range: ByteRange) throws(Failure) {
    guard csys_punch_hole(descriptor, range.offset, range.length) != 0 else { return }
    guard errno == EOPNOTSUPP || errno == ENOSYS else { throw Self.failure("free space", errno) }
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
    guard descriptor >= 0 else { throw failure("create the partial file", errno) }
    return descriptor
  }

  /// Opens the partial file that was recorded as `known`; nil if it no longer exists, or is another file.
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
    let descriptor = folder.openOurs(names.partial, known, O_RDWR | O_NONBLOCK)
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

  /// Starts writing the data to the disk. A failure counts as a failure of ``sync()``, which might not report it again.
  func beginSync() throws(Failure) { try syncs.begin() }

  /// Syncs the written data; durable on return. If it throws, the partial file is unusable: its name is removed, so
  /// that no engine continues with it, and each later sync of it throws too.
  func sync() throws(Failure) { try syncs.data() }

  /// The same including its permissions and times.
  func syncAll() throws(Failure) { try syncs.all() }

  /// From now on reads come from the disk, as far as the kernel allows that: synced data is dropped from the cache,
  /// which would still show a lost write.
  func dropCache() { posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }

  /// Removes the partial file with these names, durably: it must not reappear after a power failure, because nothing
  /// would remove it then. Blocking.
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

extension SourceIdentity {
  /// The same file on the same disk, regardless of its content.
  func isSameFile(as other: SourceIdentity) -> Bool {
    inode == other.inode && (device == other.device || boot != other.boot)
  }
}
