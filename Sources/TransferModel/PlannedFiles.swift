/// The files of an existing plan: exactly these are selected, if they are unchanged. Kept in memory completely.
public struct PlannedFiles: Sendable {
  public struct Entry: Sendable, Hashable {
    public var key: NameBytes
    public var size: Int64
    /// Nanoseconds since 1970 UTC.
    public var mtimeNs: Int64
    public var ctimeNs: Int64
    public var inode: UInt64

    public init(key: NameBytes, size: Int64, mtimeNs: Int64, ctimeNs: Int64, inode: UInt64) {
      (self.key, self.size, self.mtimeNs, self.ctimeNs, self.inode) = (key, size, mtimeNs, ctimeNs, inode)
    }

    /// Whether a file is unchanged since the plan was made.
    public func isSame(as now: SourceIdentity) -> Bool {
      size == now.size && mtimeNs == now.mtimeNs && ctimeNs == now.ctimeNs && inode == now.inode
    }
  }

  /// By their absolute paths.
  public var entries: [NameBytes: Entry]

  public init(_ entries: [NameBytes: Entry] = [:]) { self.entries = entries }
}
