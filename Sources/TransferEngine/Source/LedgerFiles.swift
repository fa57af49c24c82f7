import CSys
import TransferLedger
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The files of a ledger, by device and inode: a ledger inside a source tree must not be sent, because sending changes
/// it.
public struct LedgerFiles: Sendable {
  private struct ID: Equatable, Sendable {
    let device: UInt64
    let inode: UInt64
  }
  private let ids: [ID]

  /// Examines the database at `path` and the files that SQLite and transfers keep beside it. Blocking.
  public init(_ path: String) {
    ids = Ledger.fileSuffixes.compactMap { suffix in
      var status = csys_file_status()
      guard csys_status_at(AT_FDCWD, path + suffix, 1, &status) == 0 else { return nil }
      return ID(device: status.device, inode: status.inode)
    }
  }

  public func contains(_ identity: SourceIdentity) -> Bool {
    ids.contains(ID(device: identity.device, inode: identity.inode))
  }
}
