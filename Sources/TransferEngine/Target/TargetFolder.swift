import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The open folder of a file to be fetched. It is reached from the folder of the batch, and no symbolic link leads out
/// of that: whatever names a server or a manifest gives, nothing outside is written, replaced or removed. It is closed
/// with its last reference. All calls block.
final class TargetFolder {
  private let root: TargetRoot
  /// The folders below the root, from the top; the last is the folder itself. Empty for the root itself.
  private let path: [NameBytes]
  private let descriptor: Int32
  /// The permissions of any new file in it.
  private(set) lazy var newFileMode = csys_new_file_mode(descriptor)

  /// Creates missing folders below the folder of the batch; never that folder itself, which may be the mount point of a
  /// disk that is not mounted.
  convenience init(making names: TargetNames) throws(Failure) {
    try self.init(making: names, in: try TargetRoot(names.root))
  }

  /// The same below an open root.
  convenience init(making names: TargetNames, in root: TargetRoot) throws(Failure) {
    var found = root.open(names.folder)
    if found < 0, errno == ENOENT {
      for folder in names.folders { try root.make(folder) }
      found = root.open(names.folder)
    }
    guard found >= 0 else { throw TargetRoot.failure(names.folder, errno) }
    self.init(root, names, found)
  }

  /// nil if the folder does not exist, although the folder of the batch does.
  convenience init?(of names: TargetNames) throws(Failure) {
    try self.init(of: names, in: try TargetRoot(names.root))
  }

  /// The same below an open root.
  convenience init?(of names: TargetNames, in root: TargetRoot) throws(Failure) {
    let found = root.open(names.folder)
    guard found >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw TargetRoot.failure(names.folder, errno)
    }
    self.init(root, names, found)
  }

  private init(_ root: TargetRoot, _ names: TargetNames, _ descriptor: Int32) {
    (self.root, path, self.descriptor) = (root, names.folders, descriptor)
  }

  deinit { close(descriptor) }

  // MARK: - Names in it

  /// A descriptor, or -1 with errno.
  func open(_ name: NameBytes, _ flags: Int32, mode: UInt32 = 0) -> Int32 {
    name.withCString { csys_open_beneath(descriptor, $0, flags | O_NOFOLLOW, mode) }
  }

  /// Opens a file of ours, even if it has got the permissions of a complete file, and they forbid that to its owner. It
  /// gets them again before its final name. A descriptor, or -1 with errno.
  func openOurs(_ name: NameBytes, _ known: SourceIdentity, _ flags: Int32) -> Int32 {
    let found = open(name, flags)
    guard found < 0, errno == EACCES else { return found }
    guard permit(0o600, for: name, known) else {
      errno = EACCES
      return -1
    }
    return open(name, flags)
  }

  /// Adds permissions to this file, which need not be readable; false if the name refers to another one, or that is not
  /// possible.
  @discardableResult
  func permit(_ mode: UInt32, for name: NameBytes, _ known: SourceIdentity) -> Bool {
    let found = name.withCString { csys_open_path(descriptor, $0) }
    guard found >= 0 else { return false }
    defer { close(found) }
    var status = csys_file_status()
    guard csys_status_fd(found, &status) == 0, status.mode & S_IFMT == S_IFREG,
      SourceIdentity(status).isSameFile(as: known)
    else { return false }
    // A descriptor that is only a reference has no fchmod(2).
    return chmod("/proc/self/fd/\(found)", status.mode & 0o777 | mode) == 0
  }

  /// 0, or -1 with errno.
  func remove(_ name: NameBytes) -> Int32 { name.withCString { unlinkat(descriptor, $0, 0) } }

  /// Whether anything has this name.
  func holds(_ name: NameBytes) -> Bool { status(of: name) != nil }

  /// What has this name, in words, if it is not a regular file; links are not followed.
  func other(_ name: NameBytes) -> String? {
    status(of: name).flatMap { $0.mode & S_IFMT == S_IFREG ? nil : fileKind($0.mode) }
  }

  /// The regular file that has this name; nil for none.
  func replaced(_ name: NameBytes) -> ReplacedFile? {
    let found = name.withCString { csys_open_path(descriptor, $0) }
    return found < 0 ? nil : ReplacedFile(found)
  }

  /// Whether the name refers to this file, and not by a symbolic link.
  func holds(_ name: NameBytes, _ file: SourceIdentity) -> Bool {
    status(of: name).map { SourceIdentity($0).isSameFile(as: file) } ?? false
  }

  private func status(of name: NameBytes) -> csys_file_status? {
    var status = csys_file_status()
    return name.withCString { csys_status_at(descriptor, $0, 0, &status) } == 0 ? status : nil
  }

  /// Gives this name to an open file without one (open(2), O_TMPFILE). 0, or -1 with errno.
  func link(_ file: Int32, as name: NameBytes) -> Int32 {
    name.withCString { linkat(AT_FDCWD, "/proc/self/fd/\(file)", descriptor, $0, AT_SYMLINK_FOLLOW) }
  }

  /// Renames the partial file to its final name. 0, or -1 with errno.
  func place(_ names: TargetNames, replacing: Bool) -> Int32 {
    names.partial.withCString { from in
      names.name.withCString { to in
        replacing ? renameat(descriptor, from, descriptor, to) : csys_rename_exclusive_in(descriptor, from, to)
      }
    }
  }

  /// Renames it back, unless the name of the partial file exists. 0, or -1 with errno.
  func takeBack(_ names: TargetNames) -> Int32 {
    names.name.withCString { from in
      names.partial.withCString { csys_rename_exclusive_in(descriptor, from, $0) }
    }
  }

  // MARK: - Durability

  /// Syncs the names in the folder. Durable on return.
  func syncNames(_ fsync: (Int32) -> Int32 = fsync) throws(Failure) {
    guard syncFolderNames(descriptor, fsync) == 0 else { throw TargetFile.failure("sync the folder", errno) }
  }

  /// The same, including the names of the folders that lead to it.
  func sync() throws(Failure) {
    var once = FolderSyncs()
    try once.sync(self)
  }

  /// Its place and the places of the folders that lead to it.
  fileprivate var places: [FolderSyncs.Place] {
    let all = path.isEmpty ? [NameBytes("")] : [path[path.count - 1], NameBytes("")] + path.dropLast()
    return all.map { FolderSyncs.Place(root: ObjectIdentifier(root), folder: $0) }
  }

  fileprivate func sync(_ place: FolderSyncs.Place, _ fsync: (Int32) -> Int32) throws(Failure) {
    if place.folder == path.last ?? NameBytes("") { try syncNames(fsync) } else { try root.sync(place.folder, fsync) }
  }
}

/// The folders of several files, each opened once.
struct OpenFolders {
  private struct Place: Hashable {
    let root: NameBytes
    let folder: NameBytes
  }

  private var roots: [NameBytes: TargetRoot] = [:]
  private var folders: [Place: TargetFolder] = [:]

  /// nil if it does not exist.
  mutating func folder(of names: TargetNames) throws(Failure) -> TargetFolder? {
    let place = Place(root: names.root, folder: names.folder)
    if let open = folders[place] { return open }
    let found = try TargetFolder(of: names, in: root(names.root))
    folders[place] = found
    return found
  }

  /// Created if it does not exist.
  mutating func making(folderOf names: TargetNames) throws(Failure) -> TargetFolder {
    if let open = try folder(of: names) { return open }
    let made = try TargetFolder(making: names, in: root(names.root))
    folders[Place(root: names.root, folder: names.folder)] = made
    return made
  }

  private mutating func root(_ path: NameBytes) throws(Failure) -> TargetRoot {
    if let open = roots[path] { return open }
    let opened = try TargetRoot(path)
    roots[path] = opened
    return opened
  }
}

/// Syncs folders once for several files. A failure is returned for all of them, because the kernel reports it only once
/// (fsync(2)).
struct FolderSyncs {
  fileprivate struct Place: Hashable {
    let root: ObjectIdentifier
    let folder: NameBytes
  }

  private let call: (Int32) -> Int32
  private var results: [Place: Result<Void, Failure>] = [:]
  /// Keeps the folders alive, so that no other root gets the same object identity.
  private var folders: [TargetFolder] = []

  /// - Parameter call: fsync(2), or its replacement in tests.
  init(_ call: @escaping (Int32) -> Int32 = fsync) { self.call = call }

  /// Syncs the names in a folder, and those of the folders that lead to it. Durable on return.
  mutating func sync(_ folder: TargetFolder) throws(Failure) {
    folders.append(folder)
    for place in folder.places {
      let result = results[place] ?? Result { () throws(Failure) in try folder.sync(place, call) }
      results[place] = result
      try result.get()
    }
  }
}
