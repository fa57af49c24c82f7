import CSys
import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Gives a file the owner and the permissions that it has under its final name: those that its server has stored with
/// it, if they are to be kept; else those of the file that it replaces; else those of any new file in its folder.
struct PlacedAccess {
  /// From the server.
  let wanted: FileAccess
  /// The open file.
  let descriptor: Int32
  /// Gets the reason if something that is wanted may not be set, which does not fail the file.
  let refused: (Failure) -> Void

  /// The owner is set first, so that nobody gets the permissions of another.
  func apply(in folder: TargetFolder, replacing replaced: ReplacedFile?) throws(Failure) {
    try setOwner()
    if let mode = wanted.mode {
      guard fchmod(descriptor, mode) != 0 else { return }
      refused(try tolerated(errno))
    } else {
      let mode = replaced.map(permissions) ?? folder.newFileMode
      if fchmod(descriptor, mode) != 0 { _ = try tolerated(errno) }
    }
  }

  /// Where permissions cannot be set at all (FAT, CIFS, 9p), the mount decides who may do what.
  private func tolerated(_ code: Int32) throws(Failure) -> Failure {
    let failure = TargetFile.failure("set the permissions of the file", code)
    guard [EPERM, EOPNOTSUPP, ENOSYS, EROFS].contains(code) else { throw failure }
    return failure
  }

  /// Without permission to give files away, the group is set alone if that is possible.
  private func setOwner() throws(Failure) {
    guard wanted.owner != nil || wanted.group != nil else { return }
    let (owner, group) = (wanted.owner ?? .max, wanted.group ?? .max)
    guard fchown(descriptor, owner, group) != 0 else { return }
    let error = errno
    // EINVAL: the number has no counterpart in this user namespace.
    guard [EPERM, EINVAL, EOPNOTSUPP, ENOSYS].contains(error) else {
      throw TargetFile.failure("set the owner of the file", error)
    }
    _ = fchown(descriptor, .max, group)
    refused(TargetFile.failure("set the owner of the file", error))
  }

  /// The permissions of the replaced file, after its ACL was taken over. If its owner and group, or its ACL, cannot be
  /// kept, nobody gets more than before: the members of another group were others, or restricted by an entry.
  private func permissions(of replaced: ReplacedFile) -> UInt32 {
    let keepsOwner = keepsOwner(of: replaced)
    let copied = csys_copy_acl(replaced.descriptor, descriptor)
    if keepsOwner && copied >= 0 { return replaced.mode }
    let common = copied == 0 ? replaced.mode & (replaced.mode >> 3) & 0o7 : 0
    return replaced.mode & 0o700 | common << 3 | common
  }

  private func keepsOwner(of replaced: ReplacedFile) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    if status.st_uid == replaced.owner, status.st_gid == replaced.group { return true }
    guard wanted.owner == nil, wanted.group == nil else { return false }
    return fchown(descriptor, replaced.owner, replaced.group) == 0 || fchown(descriptor, .max, replaced.group) == 0
  }
}

/// A file whose name another one gets: open by reference only, because it need not be readable.
final class ReplacedFile {
  let descriptor: Int32
  let mode: UInt32
  let owner: UInt32
  let group: UInt32

  /// - Parameter descriptor: closed with the last reference.
  /// - Returns: nil if it is not a regular file.
  init?(_ descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    (mode, owner, group) = (status.st_mode & 0o777, status.st_uid, status.st_gid)
  }

  deinit { close(descriptor) }
}
