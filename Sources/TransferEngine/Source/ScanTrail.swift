import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Where the files of a folder are that a scan has entered.
struct ScanTrail {
  /// How much of their paths may lead through links.
  var root: Int
  /// The folder itself, if it was reached by a followed link.
  private var realFolder: NameBytes?

  init(root: Int) { self.root = root }

  /// The path without links of a file in the folder; nil if no link was followed.
  func real(_ path: PathBuffer) -> NameBytes? { realFolder?.appending(Self.name(path)) }

  /// The trail of a folder in this one that was entered as `id`; nil if it is a link that leads elsewhere by now.
  func entering(_ path: PathBuffer, as id: FolderNumber, followsSymlinks: Bool) -> ScanTrail? {
    var below = self
    if followsSymlinks, let target = path.linkTarget {
      var status = csys_file_status()
      guard target.withCString({ csys_status_at(AT_FDCWD, $0, 0, &status) }) == 0, FolderNumber(status) == id else {
        return nil
      }
      below.realFolder = target
    } else if let realFolder {
      below.realFolder = realFolder.appending(Self.name(path))
    }
    return below
  }

  private static func name(_ path: PathBuffer) -> NameBytes {
    NameBytes(Array(path.suffix(from: path.bytes.lastIndex(of: 0x2F).map { $0 + 1 } ?? 0)))
  }
}

extension PathBuffer {
  /// The path, without links, to which a symbolic link leads; nil for anything else.
  var linkTarget: NameBytes? {
    var status = csys_file_status()
    guard csys_status_at(AT_FDCWD, cString, 0, &status) == 0, status.mode & S_IFMT == S_IFLNK,
      let real = realpath(cString, nil)
    else { return nil }
    defer { free(real) }
    return NameBytes(Array(UnsafeRawBufferPointer(start: real, count: strlen(real))))
  }
}
