/// Identifies a folder of sources, so that a later run can distinguish it from the mount point of a file system that is
/// not mounted.
package struct FolderIdentity: Hashable, Sendable {
  package var inode: UInt64
  /// Birth time, in nanoseconds since 1970 UTC; nil if the file system does not record it.
  package var bornNs: Int64?
  /// The kernel's device number of the mounted file system; meaningless after a restart.
  package var device: UInt64
  /// Identifies the boot in which the device had this number.
  package var boot: UInt64

  package init(inode: UInt64, bornNs: Int64?, device: UInt64, boot: UInt64) {
    (self.inode, self.bornNs, self.device, self.boot) = (inode, bornNs, device, boot)
  }

  /// Whether the file system of this folder is mounted. `now` is the folder that has its name now: either the same
  /// folder, possibly after a remount, or another one that was created on the same device.
  package func isThere(_ now: FolderIdentity) -> Bool { isSame(as: now) || isOnDevice(of: now) }

  /// Whether both were on the same device. Device numbers are comparable only within one boot.
  package func isOnDevice(of other: FolderIdentity) -> Bool { boot == other.boot && device == other.device }

  /// Another kernel may begin or cease to report birth times for a file system, so a missing one is ignored after a
  /// restart. Within one boot, two folders of which only one has a birth time are on different file systems.
  private func isSame(as now: FolderIdentity) -> Bool {
    guard inode == now.inode else { return false }
    return bornNs == now.bornNs || boot != now.boot && (bornNs == nil || now.bornNs == nil)
  }
}
