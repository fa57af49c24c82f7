import CSys
import TransferLedger
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Moves one source to the same path below the target folder. Blocking.
struct SourceMove {
  let places: SourcePlaces
  /// The path of the source below its base.
  let relative: NameBytes

  private var name: NameBytes { relative.lastComponent }

  /// Why the source stays; nil if it was moved.
  /// - Parameter status: of the source in `folder`, when it was compared.
  func perform(from folder: Int32, _ status: csys_file_status) throws(Failure) -> RemovalEnd? {
    let target = try places.newFolder(of: relative)
    guard !Self.isSame(folder, target) else { return .kept(.policyExists, "it is already in the target folder") }
    if let ledger = Ledger.ledger(owning: name, in: target) {
      return .kept(.policyExists, "its name in the target folder belongs to a file of the ledger \(ledger.embedded)")
    }
    places.changes(target)
    let result = name.withCString { csys_rename_exclusive_at(folder, $0, target, $0) }
    guard result != 0 else { return nil }
    switch errno {
    case EEXIST where isHere(status, in: target):
      // Both names belong to one file: an earlier attempt was interrupted here.
      return name.withCString { unlinkat(folder, $0, 0) } == 0 ? nil : .unable(to: "move it", errno)
    case EEXIST: return .kept(.policyExists, "its name already exists in the target folder")
    case EXDEV: return .kept(.localIO, "the target folder is on another file system, or another mount of it")
    case let code: return .unable(to: "move it", code)
    }
  }

  /// Whether an interrupted attempt moved the source. Moving a file changes its ctime.
  func wasMade(of identity: SourceIdentity) throws(Failure) -> Bool {
    let target = try places.newFolder(of: relative)
    var found = csys_file_status()
    guard name.withCString({ csys_status_at(target, $0, 0, &found) }) == 0,
      identity.relation(to: SourceIdentity(found)) != .other
    else { return false }
    places.changes(target)
    return true
  }

  /// Whether both are the same folder, regardless of their names.
  private static func isSame(_ one: Int32, _ other: Int32) -> Bool {
    var (first, second) = (csys_file_status(), csys_file_status())
    guard csys_status_fd(one, &first) == 0, csys_status_fd(other, &second) == 0 else { return true }
    return first.inode == second.inode && first.device == second.device
  }

  private func isHere(_ status: csys_file_status, in folder: Int32) -> Bool {
    var found = csys_file_status()
    return name.withCString { csys_status_at(folder, $0, 0, &found) } == 0 && found.inode == status.inode
      && found.device == status.device
  }
}
