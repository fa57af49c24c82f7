import TransferEngine
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Locates folders by device and inode. Blocking.
package enum FolderPlace {
  private struct ID: Equatable {
    let device: dev_t
    let inode: ino_t
  }

  static func isFolder(_ path: NameBytes) -> Bool { id(path) != nil }

  /// Whether a path, which need not exist, is the folder or lies in it, through any links and names.
  package static func isInside(_ path: NameBytes, _ folder: NameBytes) -> Bool {
    guard let outer = id(folder) else { return false }
    var place = existing(AbsolutePath.of(path))
    while true {
      if id(place) == outer { return true }
      guard place.bytes.count > 1 else { return false }
      place = parent(place)
    }
  }

  /// The real path of `path` or, if that does not exist, of its closest existing parent folder.
  private static func existing(_ path: NameBytes) -> NameBytes {
    var place = path
    while place.bytes.count > 1 {
      if let real = place.withCString({ realpath($0, nil) }) {
        defer { free(real) }
        return NameBytes(Array(UnsafeRawBufferPointer(start: real, count: strlen(real))))
      }
      place = parent(place)
    }
    return place
  }

  private static func parent(_ path: NameBytes) -> NameBytes {
    guard let slash = path.bytes.lastIndex(of: 0x2F), slash > 0 else { return NameBytes("/") }
    return NameBytes(Array(path.bytes[..<slash]))
  }

  private static func id(_ path: NameBytes) -> ID? {
    var facts = stat()
    guard path.withCString({ stat($0, &facts) }) == 0, facts.st_mode & S_IFMT == S_IFDIR else { return nil }
    return ID(device: facts.st_dev, inode: facts.st_ino)
  }
}
