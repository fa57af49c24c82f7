/// Identifies a folder of sources, so that a later run can tell whether it is there, or only the mount point of a file
/// system that is away.
public struct FolderIdentity: Hashable, Sendable {
  public var inode: UInt64
  /// Nanoseconds since 1970 UTC; nil where the file system does not keep it.
  public var bornNs: Int64?
  /// The kernel's number of the mounted file system; it is meaningless after a restart.
  public var device: UInt64
  /// Identifies the boot in which the device had this number.
  public var boot: UInt64

  public init(inode: UInt64, bornNs: Int64?, device: UInt64, boot: UInt64) {
    (self.inode, self.bornNs, self.device, self.boot) = (inode, bornNs, device, boot)
  }

  /// Whether the file system of this folder is there, when what has its name is `now`: it is the same folder, which may
  /// have been mounted again, or another one that was made on the same device.
  public func isThere(_ now: FolderIdentity) -> Bool { isSame(as: now) || isOnDevice(of: now) }

  /// Whether both were seen on one device. Its number counts only within one boot.
  public func isOnDevice(of other: FolderIdentity) -> Bool { boot == other.boot && device == other.device }

  /// Another kernel may begin, or cease, to report the birth times of a file system; within one boot that one of two
  /// folders has none shows that they lie on different file systems.
  private func isSame(as now: FolderIdentity) -> Bool {
    guard inode == now.inode else { return false }
    return bornNs == now.bornNs || boot != now.boot && (bornNs == nil || now.bornNs == nil)
  }
}
