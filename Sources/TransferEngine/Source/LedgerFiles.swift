import CSys
import TransferLedger
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

/// The files of a ledger: a ledger inside a source tree must not be sent, because sending changes it.
public struct LedgerFiles: Sendable {
  private let numbers: FileNumbers

  /// Examines the database at `path` and the files that SQLite and transfers keep beside it. Blocking.
  public init(_ path: String) { numbers = FileNumbers(Ledger.fileSuffixes.map { NameBytes(path + $0) }) }

  package func contains(_ identity: SourceIdentity) -> Bool { numbers.contains(identity) }
}
