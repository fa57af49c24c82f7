/// Identifies one version of a source file without reading it. Compared at admission, at open and before finish.
/// `ctime` cannot be set back by `touch -r`, `cp -p` or `rsync -t`, so it is included.
package struct SourceIdentity: Hashable, Sendable, Codable {
  package var size: Int64
  /// Nanoseconds since 1970 UTC.
  package var mtimeNs: Int64
  /// Nanoseconds since 1970 UTC.
  package var ctimeNs: Int64
  package var inode: UInt64
  /// The kernel's number of the mounted file system; it is meaningless after a restart.
  package var device: UInt64
  /// Identifies the boot in which the device had this number; 0 if unknown.
  package var boot: UInt64

  package init(size: Int64, mtimeNs: Int64, ctimeNs: Int64, inode: UInt64, device: UInt64, boot: UInt64 = 0) {
    self.size = size
    self.mtimeNs = mtimeNs
    self.ctimeNs = ctimeNs
    self.inode = inode
    self.device = device
    self.boot = boot
  }

  /// The relation of a file's current identity to the admitted version.
  package enum Relation: Sendable, Hashable {
    case same
    /// Only ctime differs, or the device within one boot: permissions, owner or links were changed, the file system was
    /// mounted again, or somebody wrote to it and set mtime back. The content must be compared.
    case moved
    case other
  }

  package func relation(to now: SourceIdentity) -> Relation {
    guard size == now.size, mtimeNs == now.mtimeNs, inode == now.inode else { return .other }
    return ctimeNs == now.ctimeNs && isOfSameDevice(now) ? .same : .moved
  }

  /// The device counts only within one boot.
  private func isOfSameDevice(_ now: SourceIdentity) -> Bool { device == now.device || boot != now.boot }
}
