import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The folder of a file that is fetched, open. It is reached from the folder of the batch, and no symbolic link leads
/// out of that: whatever names a server or a manifest gives, nothing outside is written, replaced or removed. All calls
/// block.
struct TargetFolder: ~Copyable {
  private let names: TargetNames
  private let root: Int32
  private let descriptor: Int32

  /// Makes what is missing below the folder of the batch; never that folder itself, which may be the place of a disk
  /// that is not there.
  init(making names: TargetNames) throws(Failure) {
    let root = try Self.openRoot(names)
    do throws(Failure) {
      var found = Self.open(names.folder, in: root)
      if found < 0, errno == ENOENT {
        for folder in names.folders { try Self.make(folder, in: root) }
        found = Self.open(names.folder, in: root)
      }
      guard found >= 0 else { throw Self.failure(names.folder, errno) }
      (self.names, self.root, descriptor) = (names, root, found)
    } catch {
      close(root)
      throw error
    }
  }

  /// nil when it is not there, although the folder of the batch is.
  init?(of names: TargetNames) throws(Failure) {
    let root = try Self.openRoot(names)
    let found = Self.open(names.folder, in: root)
    guard found >= 0 else {
      let code = errno
      close(root)
      if code == ENOENT || code == ENOTDIR { return nil }
      throw Self.failure(names.folder, code)
    }
    (self.names, self.root, descriptor) = (names, root, found)
  }

  deinit {
    close(descriptor)
    close(root)
  }

  private static func openRoot(_ names: TargetNames) throws(Failure) -> Int32 {
    let root = names.root.withCString { csys_open_directory(AT_FDCWD, $0, 1) }
    guard root >= 0 else { throw TargetFile.failure("open the folder \(names.root.embedded)", errno) }
    return root
  }

  private static func open(_ folder: NameBytes, in root: Int32) -> Int32 {
    folder.withCString { csys_open_beneath(root, $0, O_RDONLY | O_DIRECTORY, 0) }
  }

  private static func make(_ folder: NameBytes, in root: Int32) throws(Failure) {
    let slash = folder.bytes.lastIndex(of: 0x2F)
    let parent = open(NameBytes(Array(folder.bytes[..<(slash ?? 0)])), in: root)
    guard parent >= 0 else { throw failure(folder, errno) }
    defer { close(parent) }
    let result = folder.lastComponent.withCString { mkdirat(parent, $0, 0o777) }
    guard result == 0 || errno == EEXIST else { throw failure(folder, errno) }
  }

  private static func failure(_ folder: NameBytes, _ code: Int32) -> Failure {
    guard code == EXDEV || code == ELOOP else {
      return TargetFile.failure("reach the folder \(folder.embedded)", code)
    }
    let text = "the folder \(folder.embedded) leads out of the target folder"
    return Failure(.localIO, text, systemError: code)
  }

  // MARK: - Names in it

  /// A descriptor, or -1 with errno.
  func open(_ name: NameBytes, _ flags: Int32, mode: UInt32 = 0) -> Int32 {
    name.withCString { csys_open_beneath(descriptor, $0, flags | O_NOFOLLOW, mode) }
  }

  /// 0, or -1 with errno.
  func remove(_ name: NameBytes) -> Int32 { name.withCString { unlinkat(descriptor, $0, 0) } }

  /// Something stands under the name, whatever it is.
  func holds(_ name: NameBytes) -> Bool {
    var status = csys_file_status()
    return name.withCString { csys_status_at(descriptor, $0, 0, &status) } == 0
  }

  /// A folder stands under the name; a symbolic link is none.
  func holdsFolder(_ name: NameBytes) -> Bool {
    var status = csys_file_status()
    return name.withCString { csys_status_at(descriptor, $0, 0, &status) } == 0 && status.mode & S_IFMT == S_IFDIR
  }

  /// Moves the partial file to the final name. 0, or -1 with errno.
  func place(replacing: Bool) -> Int32 {
    names.partial.withCString { from in
      names.name.withCString { to in
        replacing ? renameat(descriptor, from, descriptor, to) : csys_rename_exclusive_in(descriptor, from, to)
      }
    }
  }

  /// Its names are on the disk when this returns.
  func syncNames() throws(Failure) {
    guard fsync(descriptor) == 0 else { throw TargetFile.failure("sync the folder", errno) }
  }

  /// The same, and those of the folders that lead to it.
  func sync() throws(Failure) {
    try syncNames()
    guard !names.folder.isEmpty else { return }
    for folder in [NameBytes("")] + names.folders.dropLast() {
      let above = Self.open(folder, in: root)
      guard above >= 0 else { throw Self.failure(folder, errno) }
      defer { close(above) }
      guard fsync(above) == 0 else { throw TargetFile.failure("sync the folder", errno) }
    }
  }
}
