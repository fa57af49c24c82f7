import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How much of the path of a source may lead through symbolic links when the source is opened. A scan follows only
/// links that a person named, and those that `--follow-symlinks` allows, so whoever can write to a folder of the
/// sources must not be able to replace a folder by a link afterwards, and have files from elsewhere sent.
///
/// That part is the folder that keys are relative to, unless a link below it was named (`push data/link`, or a line of
/// a list): then it ends with the last link. Of what is behind a followed link, the real path is recorded, and no
/// component of that may be a link. Blocking.
enum SourceRoot {
  /// Of a path that leads through no link.
  static let whole = 1

  /// The length of the folder that keys are relative to, by the offset of the key in a path.
  static func base(_ relativeStart: Int) -> Int { max(relativeStart - 1, whole) }

  /// The length of that part of `path`, which is absolute and begins with a folder of `base` bytes.
  static func length(of path: NameBytes, below base: Int) -> Int {
    guard path.bytes.count > base, path.withCString({ csys_is_direct($0, base) }) == 0 else { return base }
    var root = base
    var end = base
    while end < path.bytes.count {
      end = path.bytes[min(end + 1, path.bytes.count)...].firstIndex(of: 0x2F) ?? path.bytes.count
      if isLink(NameBytes(Array(path.bytes[..<end]))) { root = end }
    }
    return root
  }

  private static func isLink(_ path: NameBytes) -> Bool {
    var status = csys_file_status()
    return path.withCString { csys_status_at(AT_FDCWD, $0, 0, &status) } == 0 && status.mode & S_IFMT == S_IFLNK
  }
}
