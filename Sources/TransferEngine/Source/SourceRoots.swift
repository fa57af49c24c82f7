import CSys
import TransferModel

/// How much of the path of each source may lead through symbolic links when the source is opened later. A scan follows
/// only links that a person named, so whoever can write to a folder of the sources must not be able to replace a folder
/// by a link afterwards, and have files from elsewhere sent.
///
/// That part is the folder that keys are relative to, unless a link below it was named (`push data/link`, or a line of
/// a list): then it ends with the named folder, or is not limited. Blocking.
struct SourceRoots {
  private let base: NameBytes?
  /// For each named source, whether no link is below ``base`` on the way to it; nil for a list.
  private let named: [NameBytes: Bool]?
  /// The only named source: mostly, all files are in one folder.
  private let only: (length: Int, isDirect: Bool)?
  private let followsLinks: Bool
  /// The folder of the last file of a list, and whether no link is below ``base`` on the way to it.
  private var last: (folder: [UInt8], isDirect: Bool)?

  init(_ sources: ResolvedSources) {
    followsLinks = sources.selection.followsSymlinks
    switch sources.kind {
    case .places(let places, _):
      let found = Self.named(places, below: sources.base)
      (base, named) = (sources.base, found)
      only = found.count == 1 ? found.first.map { ($0.key.bytes.count, $0.value) } : nil
    case .list(_, let base):
      (self.base, named, only) = (base ?? SourceFound.absolute(NameBytes(".")), nil, nil)
    }
  }

  /// The length of that part of `path`; nil if the whole path may lead through links, except for its last component.
  mutating func root(of path: BorrowedName) -> Int? {
    guard !followsLinks else { return nil }
    return named == nil ? rootInList(path) : rootOfNamed(path)
  }

  /// The scan has found no link between the named source and the file.
  private func rootOfNamed(_ path: BorrowedName) -> Int? {
    guard let named, let base else { return nil }
    if let only, path.count > only.length { return only.isDirect ? base.bytes.count : only.length }
    var end = path.count
    while end > 0 {
      if let isDirect = named[NameBytes(Array(path[..<end]))] {
        if isDirect { return base.bytes.count }
        return end < path.count ? end : Self.folder(path[...])
      }
      guard let next = Self.folder(path[..<end]), next < end else { return nil }
      end = next
    }
    return nil
  }

  private mutating func rootInList(_ path: BorrowedName) -> Int? {
    guard let base, let folder = Self.folder(path[...]), Self.isBelow(path[...], base) else { return nil }
    if last == nil || !last!.folder.elementsEqual(path[..<folder]) {
      let bytes = Array(path[..<folder])
      last = (bytes, Self.isDirect(NameBytes(bytes), below: base))
    }
    return last?.isDirect == true ? base.bytes.count : nil
  }

  /// The length of the folder of a path; 1 for the root.
  private static func folder(_ path: Slice<BorrowedName>) -> Int? {
    path.lastIndex(of: 0x2F).map { max($0, 1) }
  }

  private static func isBelow(_ path: Slice<BorrowedName>, _ base: NameBytes) -> Bool {
    let length = base.bytes.count
    return path.count > length && path.starts(with: base.bytes) && (length == 1 || path[length] == 0x2F)
  }

  private static func named(_ places: [SourcePlace], below base: NameBytes?) -> [NameBytes: Bool] {
    guard let base else { return [:] }
    return Dictionary(
      places.map { ($0.path, isDirect($0.path, below: base)) }, uniquingKeysWith: { $0 && $1 })
  }

  /// Whether no component of `path` below `base` is a symbolic link.
  private static func isDirect(_ path: NameBytes, below base: NameBytes) -> Bool {
    path == base
      || path.bytes.starts(with: base.bytes) && path.withCString { csys_is_direct($0, base.bytes.count) } != 0
  }
}
