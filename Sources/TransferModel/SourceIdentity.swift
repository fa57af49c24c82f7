/// What tells one version of a source file from another without reading it. Compared at admission, at open and before
/// finish. `ctime` cannot be set back by `touch -r`, `cp -p` or `rsync -t`, so it is part of it.
public struct SourceIdentity: Hashable, Sendable, Codable {
  public var size: Int64
  /// Nanoseconds since 1970 UTC.
  public var mtimeNs: Int64
  /// Nanoseconds since 1970 UTC.
  public var ctimeNs: Int64
  public var inode: UInt64
  public var device: UInt64

  public init(size: Int64, mtimeNs: Int64, ctimeNs: Int64, inode: UInt64, device: UInt64) {
    self.size = size
    self.mtimeNs = mtimeNs
    self.ctimeNs = ctimeNs
    self.inode = inode
    self.device = device
  }
}
