import CSys
package import TransferLedger
package import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The symbolic links on the way to folders of sources. A link that was made or replaced since a file was sent may lead
/// to another folder. The file that has the same path there is not a newer version of the one that was sent. Blocking.
package enum FolderLinks {
  /// The folders of the files of a page that are reached through links.
  static func folders(of page: AdmissionPage) -> [NameBytes: LinkedFolder] {
    var (found, last): ([NameBytes: LinkedFolder], NameBytes?) = ([:], nil)
    for index in 0..<page.count {
      let folder = SourceFound.parent(page.path(index))
      guard folder != last else { continue }
      (found[folder], last) = (linked(folder), folder)
    }
    return found
  }

  /// The folder of a source; nil if it is not reached through a link, or cannot be examined.
  package static func folder(of path: NameBytes) -> LinkedFolder? { linked(SourceFound.parent(path)) }

  private static func linked(_ folder: NameBytes) -> LinkedFolder? {
    var status = csys_file_status()
    guard folder.withCString({ csys_is_direct($0, 1) }) == 0,
      folder.withCString({ csys_status_at(AT_FDCWD, $0, 1, &status) }) == 0, let newestNs = newestLink(folder)
    else { return nil }
    return LinkedFolder(linkedMs: newestNs / 1_000_000, inode: status.inode)
  }

  /// When the newest of the links of a path was made or replaced; nil if it has none.
  private static func newestLink(_ path: NameBytes) -> Int64? {
    let ends = path.bytes.indices.dropFirst().filter { path.bytes[$0] == 0x2F } + [path.bytes.count]
    return ends.compactMap { end in
      var status = csys_file_status()
      let name = NameBytes(Array(path.bytes[..<end]))
      let isLink =
        name.withCString { csys_status_at(AT_FDCWD, $0, 0, &status) } == 0 && status.mode & S_IFMT == S_IFLNK
      return isLink ? SourceIdentity(status).ctimeNs : nil
    }.max()
  }
}
