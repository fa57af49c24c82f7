import CSys
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A folder for downloaded files.
public struct LocalFolder: Sendable {
  /// The absolute path.
  public let path: NameBytes

  public init(_ path: NameBytes) { self.path = SourceFound.absolute(path) }

  /// Creates the folder if it is missing and its parent exists. Blocking.
  /// - Throws: `.usage` when the folder is missing and cannot be created, or the path is not a folder.
  public func make() throws(TransferError) {
    guard path.withCString({ mkdir($0, 0o777) }) != 0 else { return }
    let code = errno
    try check(missing: code)
  }

  /// - Throws: `.usage` when the path is something else than a folder. Blocking.
  public func refuseOthers() throws(TransferError) {
    if path.withCString({ access($0, F_OK) }) == 0 { try check() }
  }

  /// - Throws: `.usage` when the path does not exist or is not a folder. Blocking.
  public func check(missing code: Int32? = nil) throws(TransferError) {
    var status = csys_file_status()
    guard path.withCString({ csys_status_at(AT_FDCWD, $0, 1, &status) }) == 0 else {
      throw TransferError(
        .usage, "open folder", path, cause: systemText(code ?? errno), remedy: "create it, or name another folder")
    }
    guard status.mode & S_IFMT == S_IFDIR else {
      throw TransferError(
        .usage, "open folder", path, cause: "it is \(fileKind(status.mode))", remedy: "name a folder")
    }
  }

  /// Whether names that differ only in case are the same file in it. Only where its file system does not tell, this
  /// creates a temporary file, which a kill would leave behind; false if none can be created. Blocking.
  public var ignoresCase: Bool {
    let folder = path.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    if folder >= 0 {
      defer { close(folder) }
      let known = csys_ignores_case(folder)
      if known >= 0 { return known == 1 }
    }
    let name = "/.transfers-Case-\(UInt64.random(in: .min ... .max))"
    let made = NameBytes(path.bytes + name.utf8)
    let descriptor = made.withCString { open($0, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600) }
    guard descriptor >= 0 else { return false }
    close(descriptor)
    defer { _ = made.withCString { unlink($0) } }
    return NameBytes(path.bytes + name.lowercased().utf8).withCString { access($0, F_OK) } == 0
  }

  /// Whether anything has this relative path. Blocking.
  func holds(_ path: NameBytes) -> Bool {
    var status = csys_file_status()
    return self.path(of: path).withCString { csys_status_at(AT_FDCWD, $0, 0, &status) } == 0
  }

  public func path(of name: NameBytes) -> NameBytes {
    NameBytes(path.bytes + (path.bytes.last == 0x2F ? [] : [0x2F]) + name.bytes)
  }
}
