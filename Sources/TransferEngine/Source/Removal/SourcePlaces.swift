import CSys
import TransferLedger
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The open folders from which sources are removed and to which they are moved, below the two folders that a person
/// named, and below links among the sources that were named. No symbolic link leads out of these. Changes in them are
/// durable after ``sync()``. All calls block.
final class SourcePlaces {
  /// The maximum number of folders of a page that are kept open, in addition to those above one file.
  static let openAtMost = 64
  private(set) var open: [NameBytes: Int32] = [:]
  private var changed: Set<Int32> = []
  private let base: NameBytes
  private let target: NameBytes?
  /// Folders below ``base`` that are reached through links which a person named: they are followed.
  private var named: Set<NameBytes> = []

  init(_ removal: SourceRemoval) {
    base = NameBytes(removal.base)
    target = removal.folder.map { NameBytes($0) }
  }

  deinit { release() }

  /// The path of a source relative to the folder that keys are relative to; nil if it is not below that folder, because
  /// it was reached through a symbolic link.
  /// - Parameter root: how much of the path may lead through symbolic links (``SourceRoot``).
  func relative(_ path: NameBytes, root: Int? = nil) -> NameBytes? {
    if let root, root > base.bytes.count, root < path.bytes.count {
      named.insert(NameBytes(Array(path.bytes[..<root])))
    }
    let start = base.bytes == [0x2F] ? 1 : base.bytes.count + 1
    guard path.bytes.count > start, path.bytes.starts(with: base.bytes), path.bytes[start - 1] == 0x2F else {
      return nil
    }
    return NameBytes(Array(path.bytes[start...]))
  }

  /// Whether the folder of all sources exists.
  var isThere: Bool { descriptor(base, NameBytes("")) >= 0 }

  /// Whether the file system of a source's folder is mounted: if it is not, nothing is known about the files on it. The
  /// folder itself shows this or, if it is missing or was replaced, a folder above it that was on the same device.
  /// - Parameter recorded: reads the identity that a folder had when the source was recorded.
  func isMounted(
    _ relative: NameBytes, recorded: (NameBytes) throws(TransferError) -> FolderIdentity?
  ) throws(TransferError) -> Bool {
    var folder = Self.parent(relative)
    guard let home = try recorded(base.appending(folder)) else { return false }
    while true {
      if let known = try recorded(base.appending(folder)), known.isOnDevice(of: home), let now = identity(of: folder),
        known.isThere(now)
      {
        return true
      }
      if folder.isEmpty { return false }
      folder = Self.parent(folder)
    }
  }

  /// The current identities of the folders of the files of a page, and of those above them up to the folder of all
  /// sources.
  func folders(of page: AdmissionPage) -> [NameBytes: FolderIdentity] {
    var (found, last): ([NameBytes: FolderIdentity], NameBytes?) = ([:], nil)
    for index in 0..<page.count {
      let path = page.path(index)
      guard let relative = relative(path, root: page.root(index)), last != Self.parent(relative) else { continue }
      var folder = Self.parent(relative)
      last = folder
      if open.count > Self.openAtMost { release() }
      while found[base.appending(folder)] == nil, let now = identity(of: folder) {
        found[base.appending(folder)] = now
        if folder.isEmpty { break }
        folder = Self.parent(folder)
      }
    }
    return found
  }

  /// nil if the folder does not exist.
  func identity(of folder: NameBytes) -> FolderIdentity? {
    let found = descriptor(base, folder)
    var status = csys_file_status()
    guard found >= 0, csys_status_fd(found, &status) == 0 else { return nil }
    let bornNs = csys_birth_ns_fd(found)
    return FolderIdentity(
      inode: status.inode, bornNs: bornNs > 0 ? bornNs : nil, device: status.device, boot: BootID.current)
  }

  /// The folder of a source; -1 with `errno`.
  func folder(of relative: NameBytes) -> Int32 { descriptor(base, Self.parent(relative)) }

  /// Whether nothing has the name of a source any more. False if this cannot be determined.
  func isGone(_ relative: NameBytes) -> Bool {
    let folder = folder(of: relative)
    guard folder >= 0 else { return errno == ENOENT }
    var status = csys_file_status()
    return relative.lastComponent.withCString { csys_status_at(folder, $0, 0, &status) } != 0 && errno == ENOENT
  }

  /// The folder to which a source is moved, created if it is missing.
  func newFolder(of relative: NameBytes) throws(Failure) -> Int32 {
    guard let target else { return -1 }
    let parent = Self.parent(relative)
    var found = descriptor(target, parent)
    if found < 0, errno == ENOENT {
      try make(parent, in: target)
      found = descriptor(target, parent)
    }
    guard found >= 0 else { throw unopened(parent, in: target, errno) }
    return found
  }

  /// Names in this folder are about to change.
  func changes(_ folder: Int32) { changed.insert(folder) }

  /// - Throws: `local.io`.
  func sync() throws(Failure) {
    for folder in changed where syncFolderNames(folder) != 0 {
      throw Self.failure("sync the folder of a source", errno)
    }
    changed = []
  }

  /// Closes all folders: a tree may have more folders than a process may have open.
  func release() {
    for descriptor in open.values { close(descriptor) }
    (open, changed) = ([:], [])
  }

  private func make(_ folder: NameBytes, in root: NameBytes) throws(Failure) {
    var path: [UInt8] = []
    for part in folder.bytes.split(separator: 0x2F) {
      let above = descriptor(root, NameBytes(path))
      guard above >= 0 else { throw unopened(NameBytes(path), in: root, errno) }
      path += (path.isEmpty ? [] : [0x2F]) + Array(part)
      let made = NameBytes(Array(part)).withCString { mkdirat(above, $0, 0o777) }
      guard made == 0 || errno == EEXIST else {
        throw Self.failure("create the folder \(root.appending(NameBytes(path)).embedded)", errno)
      }
      changes(above)
    }
  }

  /// Names the first folder of the path that cannot be opened: something else has its name.
  private func unopened(_ folder: NameBytes, in root: NameBytes, _ code: Int32) -> Failure {
    var (at, cause) = (root.appending(folder), code)
    var path: [UInt8] = []
    for part in [[]] + folder.bytes.split(separator: 0x2F) {
      path += (path.isEmpty ? [] : [0x2F]) + Array(part)
      guard descriptor(root, NameBytes(path)) < 0 else { continue }
      (at, cause) = (root.appending(NameBytes(path)), errno)
      break
    }
    guard cause == EXDEV else { return Self.failure("open the folder \(at.embedded)", cause) }
    let text = "cannot open the folder \(at.embedded): a symbolic link leads out of \(root.embedded)"
    return Failure(.localIO, text, systemError: cause)
  }

  private func descriptor(_ root: NameBytes, _ folder: NameBytes) -> Int32 {
    let name = root.appending(folder)
    if let known = open[name] { return known }
    if root == base, let link = namedLink(above: name) {
      return descriptor(link, NameBytes(Array(name.bytes[link.bytes.count...].drop { $0 == 0x2F })))
    }
    let found: Int32
    if folder.isEmpty {
      found = root.withCString { csys_open_directory(AT_FDCWD, $0, 1) }
    } else {
      let above = descriptor(root, NameBytes(""))
      guard above >= 0 else { return above }
      found = folder.withCString { csys_open_beneath(above, $0, O_RDONLY | O_DIRECTORY, 0) }
    }
    if found >= 0 { open[name] = found }
    return found
  }

  /// The folder itself, or the nearest one above it, that is reached through a link which a person named.
  private func namedLink(above folder: NameBytes) -> NameBytes? {
    let above = named.filter { folder == $0 || folder.bytes.starts(with: $0.bytes + [0x2F]) }
    return above.max { $0.bytes.count < $1.bytes.count }
  }

  private static func parent(_ relative: NameBytes) -> NameBytes {
    NameBytes(Array(relative.bytes[..<(relative.bytes.lastIndex(of: 0x2F) ?? 0)]))
  }

  static func failure(_ what: String, _ code: Int32) -> Failure {
    let cause: ErrorCode = code == ENOSPC || code == EDQUOT ? .localDiskFull : .localIO
    return Failure(cause, "cannot \(what): \(systemText(code))", systemError: code)
  }
}
