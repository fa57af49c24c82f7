import CSys
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An open source file. The descriptor is closed with the last reference.
public final class SourceFile: ReadableFile {
  let descriptor: Int32
  /// As it was at open.
  package let identity: SourceIdentity

  /// Opens `path` without following a symbolic link in its last component and without blocking on a FIFO.
  /// Blocking call: never from the engine's loop.
  /// - Parameter root: how much of the path may lead through symbolic links (``SourceRoot``); nil for all of it but
  ///   the last component.
  /// - Throws: `source.missing`, `source.denied`, `source.kind`, `local.fd_limit`, `source.io`.
  public init(path: NameBytes, root: Int? = nil) throws(Failure) {
    let descriptor = path.withCString { name in
      if let root { csys_open_source_below(name, root) } else { csys_open_source(name) }
    }
    guard descriptor >= 0 else { throw Self.openFailure(errno, path) }
    var status = csys_file_status()
    guard csys_status_fd(descriptor, &status) == 0 else {
      let code = errno
      close(descriptor)
      throw Failure(.sourceIO, "cannot examine the file: \(systemText(code))", systemError: code)
    }
    guard status.mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw Failure(.sourceKind, "is \(fileKind(status.mode)), not a regular file")
    }
    self.descriptor = descriptor
    identity = SourceIdentity(status)
  }

  deinit { close(descriptor) }

  /// The current identity at the path; nil if it cannot be opened. A file that was removed from its path is missing,
  /// not changed, although removing an open file changes its ctime. A file that is now reached through a symbolic link
  /// does not count as a newer version.
  /// - Throws: `source.missing`, `source.kind`.
  static func identityNow(_ path: NameBytes, root: Int?) throws(Failure) -> SourceIdentity? {
    do throws(Failure) {
      return try SourceFile(path: path, root: root).identity
    } catch {
      if error.code == .sourceMissing || error.systemError == ELOOP { throw error }
      return nil
    }
  }

  /// The identity that the kernel reports now.
  package func currentIdentity() throws(Failure) -> SourceIdentity {
    var status = csys_file_status()
    guard csys_status_fd(descriptor, &status) == 0 else {
      throw Failure(.sourceIO, "cannot examine the file: \(systemText(errno))", systemError: errno)
    }
    return SourceIdentity(status)
  }

  /// The identity of what has the path now, if that is not this file; nil if it is, or if nothing has the path. A
  /// newer version that was renamed over this file changes no byte of it, and one in a new folder not even its ctime.
  func replacement(at path: NameBytes) -> SourceIdentity? {
    var (own, found) = (csys_file_status(), csys_file_status())
    guard path.withCString({ csys_status_at(AT_FDCWD, $0, 0, &found) }) == 0, csys_status_fd(descriptor, &own) == 0,
      found.inode != own.inode || found.device != own.device
    else { return nil }
    return SourceIdentity(found)
  }

  /// Whether it has bytes beyond `size`: the kernel reports a size of 0 for files in `/proc`, and some other file
  /// systems do not know the sizes of their files.
  func hasMore(than size: Int64) throws(Failure) -> Bool {
    var byte: UInt8 = 0
    while true {
      let count = pread(descriptor, &byte, 1, off_t(size))
      if count >= 0 { return count > 0 }
      guard errno == EINTR else {
        throw Failure(.sourceIO, "cannot read at byte \(size): \(systemText(errno))", systemError: errno)
      }
    }
  }

  /// Its birth time in nanoseconds since 1970 UTC; nil where the file system does not record it.
  var bornNs: Int64? {
    let bornNs = csys_birth_ns_fd(descriptor)
    return bornNs > 0 ? bornNs : nil
  }

  private static func isLink(_ path: NameBytes) -> Bool {
    var status = csys_file_status()
    return path.withCString { csys_status_at(AT_FDCWD, $0, 0, &status) } == 0 && status.mode & S_IFMT == S_IFLNK
  }

  private static func openFailure(_ code: Int32, _ path: NameBytes) -> Failure {
    switch code {
    case ELOOP where !isLink(path):
      Failure(
        .sourceKind,
        "a folder above it is a symbolic link now, which is not followed; add it again to send what is there",
        systemError: code)
    // openat2 with RESOLVE_BENEATH.
    case EXDEV: Failure(.sourceKind, "its path leads out of the folder that was named", systemError: code)
    case ENOENT, ENOTDIR: Failure(.sourceMissing, "no such file", systemError: code)
    case EACCES, EPERM: Failure(.sourceDenied, "permission denied", systemError: code)
    case ELOOP: Failure(.sourceKind, "is a symbolic link, not a regular file", systemError: code)
    case ENXIO: Failure(.sourceKind, "is a socket or a device, not a regular file", systemError: code)
    case EMFILE, ENFILE: Failure(.localFDLimit, "too many open files", systemError: code)
    default: Failure(.sourceIO, "cannot open: \(systemText(code))", systemError: code)
    }
  }
}

extension SourceIdentity {
  init(_ status: csys_file_status) {
    self.init(
      size: status.size, mtimeNs: status.mtime_ns, ctimeNs: status.ctime_ns, inode: status.inode,
      device: status.device, boot: BootID.current)
  }

  /// The failure that describes the differences to `now`, which is another version.
  func change(to now: SourceIdentity) -> Failure {
    let isOnlyMoved = now.inode == inode && now.size == size && now.mtimeNs == mtimeNs
    guard !isOnlyMoved else {
      return Failure(
        .sourceChanged,
        "the source has a new ctime or device since it was added, and its content does not match what was sent of it")
    }
    let what =
      now.inode != inode
      ? "was replaced by another file"
      : now.size != size
        ? "changed its size from \(size) to \(now.size) bytes"
        : "was written to"
    return Failure(.sourceChanged, "the source \(what) since it was added")
  }
}

extension NameBytes {
  package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (bytes + [0]).withUnsafeBytes { body($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
  }
}

/// The file type of a mode, for people: `a FIFO`.
func fileKind(_ mode: UInt32) -> String {
  switch mode & S_IFMT {
  case S_IFREG: "a regular file"
  case S_IFDIR: "a directory"
  case S_IFLNK: "a symbolic link"
  case S_IFIFO: "a FIFO"
  case S_IFSOCK: "a socket"
  case S_IFCHR, S_IFBLK: "a device"
  default: "something unknown"
  }
}

extension SourceFile {
  /// Asks the kernel to read `range` ahead.
  func willNeed(_ range: ByteRange) { csys_will_need(descriptor, range.offset, range.length) }
}
