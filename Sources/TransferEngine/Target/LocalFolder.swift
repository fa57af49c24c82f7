import CSys
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A folder that downloads go to.
public struct LocalFolder: Sendable {
  /// From the root.
  public let path: NameBytes

  public init(_ path: NameBytes) { self.path = SourceFound.absolute(path) }

  /// - Throws: `.usage` when the path does not exist or is not a folder. Blocking.
  public func check() throws(TransferError) {
    var status = csys_file_status()
    guard path.withCString({ csys_status_at(AT_FDCWD, $0, 1, &status) }) == 0 else {
      throw TransferError(
        .usage, "open folder", path, cause: systemText(errno), remedy: "make it, or name another folder")
    }
    guard status.mode & S_IFMT == S_IFDIR else {
      throw TransferError(
        .usage, "open folder", path, cause: "it is \(fileKind(status.mode))", remedy: "name a folder")
    }
  }

  public func path(of name: NameBytes) -> NameBytes {
    NameBytes(path.bytes + (path.bytes.last == 0x2F ? [] : [0x2F]) + name.bytes)
  }
}
