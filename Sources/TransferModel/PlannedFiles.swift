/// The files of an existing plan: exactly these are selected, if they are unchanged. Kept in memory completely.
package struct PlannedFiles: Sendable {
  package struct Entry: Sendable, Hashable {
    package var key: NameBytes
    package var size: Int64
    /// Nanoseconds since 1970 UTC.
    package var mtimeNs: Int64
    package var ctimeNs: Int64
    package var inode: UInt64

    package init(key: NameBytes, size: Int64, mtimeNs: Int64, ctimeNs: Int64, inode: UInt64) {
      (self.key, self.size, self.mtimeNs, self.ctimeNs, self.inode) = (key, size, mtimeNs, ctimeNs, inode)
    }

    /// Whether a file is unchanged since the plan was made.
    package func isSame(as now: SourceIdentity) -> Bool {
      size == now.size && mtimeNs == now.mtimeNs && ctimeNs == now.ctimeNs && inode == now.inode
    }
  }

  /// By their absolute paths.
  package var entries: [NameBytes: Entry]

  package init(_ entries: [NameBytes: Entry] = [:]) { self.entries = entries }
}
