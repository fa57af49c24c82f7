import CSys
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A set of files by device and inode, regardless of their names. Blocking to create.
public struct FileNumbers: Sendable {
  private struct ID: Equatable, Sendable {
    let device: UInt64
    let inode: UInt64
  }
  private let ids: [ID]

  /// Those of them that exist, with links followed.
  public init(_ paths: [NameBytes], descriptors: [Int32] = []) {
    var (ids, status): ([ID], csys_file_status) = ([], csys_file_status())
    for path in paths where path.withCString({ csys_status_at(AT_FDCWD, $0, 1, &status) }) == 0 {
      ids.append(ID(device: status.device, inode: status.inode))
    }
    for descriptor in descriptors where csys_status_fd(descriptor, &status) == 0 {
      ids.append(ID(device: status.device, inode: status.inode))
    }
    self.ids = ids
  }

  package func contains(_ identity: SourceIdentity) -> Bool {
    ids.contains(ID(device: identity.device, inode: identity.inode))
  }
}
