import CSys
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Walks sources and tells what it finds, directory by directory, names in byte order. Memory is bounded by the largest
/// directory and the depth, not by the tree. Blocking: call it from a plain thread.
public struct SourceScanner {
  /// What was found.
  public enum Finding: Sendable {
    /// A regular file: where it is, and its path relative to the source (its name when it is the source).
    case file(path: NameBytes, relative: NameBytes, SourceIdentity, mode: UInt32)
    /// Left out by a rule.
    case excluded(path: NameBytes, rule: String)
    /// Not a regular file: symbolic link, FIFO, socket, device.
    case special(path: NameBytes, kind: String)
    /// Cannot be looked at, or a directory that cannot be listed.
    case unreadable(path: NameBytes, relative: NameBytes, Failure)
  }

  private let rules: PathRules
  private let followsSymlinks: Bool
  private let visit: (Finding) throws(TransferError) -> Void

  public init(
    rules: PathRules, followsSymlinks: Bool, visit: @escaping (Finding) throws(TransferError) -> Void
  ) {
    self.rules = rules
    self.followsSymlinks = followsSymlinks
    self.visit = visit
  }

  /// Scans one source: a file or a directory. A source that is named is followed when it is a symbolic link.
  /// - Throws: `.noSource` when it does not exist or is neither file nor directory; what `visit` throws.
  public func scan(_ source: NameBytes) throws(TransferError) {
    var status = csys_file_status()
    guard source.withCString({ csys_status_at(AT_FDCWD, $0, 1, &status) }) == 0 else {
      throw Self.noSource(source, errno)
    }
    let path = Self.absolute(source)
    switch status.mode & S_IFMT {
    case S_IFREG:
      try visit(
        .file(
          path: Self.withoutLastLink(path, in: AT_FDCWD, source), relative: path.lastComponent, SourceIdentity(status),
          mode: status.mode & 0o7777))
    case S_IFDIR:
      let descriptor = source.withCString { csys_open_directory(AT_FDCWD, $0, 1) }
      guard descriptor >= 0 else { throw Self.noSource(source, errno) }
      try walk(descriptor, path, NameBytes(""), ancestors: [DirectoryID(status)])
    default:
      throw TransferError(
        .noSource, "read source", source, cause: "it is \(fileKind(status.mode))",
        remedy: "name a file or a directory")
    }
  }

  /// Lists one directory (the descriptor is closed), files and subdirectories in byte order.
  private func walk(
    _ descriptor: Int32, _ path: NameBytes, _ relative: NameBytes, ancestors: [DirectoryID]
  ) throws(TransferError) {
    guard let directory = fdopendir(descriptor) else {
      close(descriptor)
      return try visit(.unreadable(path: path, relative: relative, Self.failure(errno)))
    }
    defer { closedir(directory) }
    let listing = Self.names(directory)
    if let code = listing.error { try visit(.unreadable(path: path, relative: relative, Self.failure(code))) }
    for name in listing.names {
      try look(at: name, in: dirfd(directory), path.appending(name), relative.appending(name), ancestors)
    }
  }

  private func look(
    at name: NameBytes, in directory: Int32, _ path: NameBytes, _ relative: NameBytes, _ ancestors: [DirectoryID]
  ) throws(TransferError) {
    var status = csys_file_status()
    guard name.withCString({ csys_status_at(directory, $0, followsSymlinks ? 1 : 0, &status) }) == 0 else {
      if errno == ENOENT && !followsSymlinks { return }
      return try visit(.unreadable(path: path, relative: relative, Self.failure(errno)))
    }
    switch status.mode & S_IFMT {
    case S_IFREG:
      if let rule = rules.exclusion(ofFile: relative) { return try visit(.excluded(path: path, rule: rule)) }
      let real = followsSymlinks ? Self.withoutLastLink(path, in: directory, name) : path
      try visit(.file(path: real, relative: relative, SourceIdentity(status), mode: status.mode & 0o7777))
    case S_IFDIR:
      try enter(name, status, in: directory, path, relative, ancestors)
    default:
      if let rule = rules.exclusion(ofFile: relative) { return try visit(.excluded(path: path, rule: rule)) }
      try visit(.special(path: path, kind: fileKind(status.mode)))
    }
  }

  private func enter(
    _ name: NameBytes, _ status: csys_file_status, in directory: Int32, _ path: NameBytes, _ relative: NameBytes,
    _ ancestors: [DirectoryID]
  ) throws(TransferError) {
    if let rule = rules.exclusion(ofDirectory: relative) { return try visit(.excluded(path: path, rule: rule)) }
    let id = DirectoryID(status)
    guard !ancestors.contains(id) else {
      let loop = Failure(.sourceKind, "is a directory that contains itself (a loop); not entered again")
      return try visit(.unreadable(path: path, relative: relative, loop))
    }
    let descriptor = name.withCString { csys_open_directory(directory, $0, followsSymlinks ? 1 : 0) }
    guard descriptor >= 0 else {
      return try visit(.unreadable(path: path, relative: relative, Self.failure(errno)))
    }
    try walk(descriptor, path, relative, ancestors: ancestors + [id])
  }

  /// Files are opened without following a link in their last component, so what is recorded of a link that was followed
  /// is the file that it led to.
  private static func withoutLastLink(_ path: NameBytes, in directory: Int32, _ name: NameBytes) -> NameBytes {
    var status = csys_file_status()
    guard name.withCString({ csys_status_at(directory, $0, 0, &status) }) == 0, status.mode & S_IFMT == S_IFLNK,
      let real = path.withCString({ realpath($0, nil) })
    else { return path }
    defer { free(real) }
    return NameBytes(Array(UnsafeRawBufferPointer(start: real, count: strlen(real))))
  }

  private struct DirectoryID: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    init(_ status: csys_file_status) {
      device = status.device
      inode = status.inode
    }
  }

  private static func names(_ directory: OpaquePointer) -> (names: [NameBytes], error: Int32?) {
    var names: [NameBytes] = []
    while true {
      errno = 0
      guard let entry = readdir(directory) else { return (names.sorted(), errno == 0 ? nil : errno) }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: UInt8.self, capacity: 256) {
          NameBytes(Array(UnsafeBufferPointer(start: $0, count: strlen(pointer))))
        }
      }
      if name.bytes != [0x2E] && name.bytes != [0x2E, 0x2E] { names.append(name) }
    }
  }

  /// The path from the root, without resolving links: what the ledger stores, so that a later run finds the file from
  /// any working directory.
  public static func absolute(_ path: NameBytes) -> NameBytes {
    var trimmed = path
    while trimmed.bytes.count > 1 && trimmed.bytes.last == 0x2F { trimmed.bytes.removeLast() }
    while trimmed.bytes.starts(with: [0x2E, 0x2F]) { trimmed.bytes.removeFirst(2) }
    if trimmed.bytes.first == 0x2F { return trimmed }
    guard let pointer = getcwd(nil, 0) else { return trimmed }
    defer { free(pointer) }
    let here = NameBytes(Array(UnsafeRawBufferPointer(start: pointer, count: strlen(pointer))))
    return trimmed.bytes == [0x2E] || trimmed.isEmpty ? here : here.appending(trimmed)
  }

  private static func failure(_ code: Int32) -> Failure {
    switch code {
    case EACCES, EPERM: Failure(.sourceDenied, "permission denied", systemError: code)
    case ENOENT: Failure(.sourceMissing, "no such file", systemError: code)
    case ELOOP: Failure(.sourceKind, "too many symbolic links", systemError: code)
    case EMFILE, ENFILE: Failure(.localFDLimit, "too many open files", systemError: code)
    default: Failure(.sourceIO, "cannot be read: \(systemText(code))", systemError: code)
    }
  }

  private static func noSource(_ source: NameBytes, _ code: Int32) -> TransferError {
    TransferError(.noSource, "read source", source, cause: systemText(code), remedy: "check the path")
  }
}
