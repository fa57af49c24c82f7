import Glibc
import TransferModel

/// The receiver's folder. Objects get their final name only when all their bytes are on the disk. No path leads out of
/// the folder: paths are resolved component by component, and symbolic links are never followed.
///
/// Called from the threads of all connections.
final class ObjectStore: Sendable {
  /// Holds incomplete objects. It is on the same file system as the objects, and no request can reach it.
  static let hiddenName = NameBytes(".transfers-receiver")

  let root: Descriptor
  let staging: Descriptor
  let serial = Lock<UInt64>(0)
  /// Held while a final name is added or removed, so that the record lists the names in that order. The value is only a
  /// counter: the thread sanitizer takes a value without a size for the object's header, and reports false races.
  let publishing = Lock<Int>(0)
  let checksums = ChecksumCache()

  /// Opens `path`, creates it when it is missing, locks it for this process, and removes the partial bodies that a
  /// killed receiver left.
  init(path: String) throws(TransferError) {
    root = try Self.openFolder(path)
    let made = Self.hiddenName.withCString { [root] in mkdirat(root.number, $0, 0o700) }
    guard made == 0 || errno == EEXIST, let staging = root.open(Self.hiddenName, O_RDONLY | O_DIRECTORY) else {
      throw Self.failure(path)
    }
    self.staging = staging
    guard flock(staging.number, LOCK_EX | LOCK_NB) == 0 else {
      throw TransferError(
        .locked, "open folder", NameBytes(path), cause: "another receiver uses it", remedy: "choose another --dir")
    }
    removeLeftovers()
  }

  private static func openFolder(_ path: String) throws(TransferError) -> Descriptor {
    if mkdir(path, 0o755) != 0 && errno != EEXIST { throw failure(path) }
    let opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if opened < 0 { throw failure(path) }
    return Descriptor(opened)
  }

  private static func failure(_ path: String) -> TransferError {
    TransferError(.config, "open folder", NameBytes(path), cause: errorText(errno), remedy: "choose another --dir")
  }

  private func removeLeftovers() {
    guard let directory = fdopendir(dup(staging.number)) else { return }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { NameBytes(Array($0.prefix { $0 != 0 })) }
      if name.bytes.first != 0x2E { _ = name.withCString { unlinkat(staging.number, $0, 0) } }
    }
  }

  /// Opens the folder that contains the last component of `path`, and makes missing folders when `creating`. A new
  /// folder is durable on return.
  func parent(of path: ObjectPath, creating: Bool) throws(ExchangeEnd) -> Descriptor {
    var current = root
    for name in path.components.dropLast() { current = try folder(name, in: current, creating: creating) }
    return current
  }

  private func folder(_ name: NameBytes, in parent: Descriptor, creating: Bool) throws(ExchangeEnd) -> Descriptor {
    if let found = parent.open(name, O_RDONLY | O_DIRECTORY) { return found }
    guard errno == ENOENT else { throw .systemError(errno, "open collection") }
    guard creating else { throw .refuse(409, "a parent collection is missing") }
    let made = name.withCString { mkdirat(parent.number, $0, 0o755) }
    guard made == 0 || errno == EEXIST else { throw .systemError(errno, "make collection") }
    guard fsync(parent.number) == 0 else { throw .systemError(errno, "make collection durable") }
    guard let found = parent.open(name, O_RDONLY | O_DIRECTORY) else { throw .systemError(errno, "open collection") }
    return found
  }

  /// The status of what is at `path`, without following links; nil when nothing is there.
  func status(of path: ObjectPath) throws(ExchangeEnd) -> stat? {
    guard let name = path.components.last else { return root.status }
    let folder: Descriptor
    do throws(ExchangeEnd) {
      folder = try parent(of: path, creating: false)
    } catch {
      if case .refuse(let answer) = error, answer.status == 409 || answer.status == 404 { return nil }
      throw error
    }
    return Self.status(of: name, in: folder)
  }

  static func status(of name: NameBytes, in folder: Descriptor) -> stat? {
    var out = stat()
    return name.withCString { fstatat(folder.number, $0, &out, AT_SYMLINK_NOFOLLOW) } == 0 ? out : nil
  }

  // MARK: - Objects

  /// Opens the object at `path` with its checksum, which is computed from the content when it is not yet known.
  func object(at path: ObjectPath) throws(ExchangeEnd) -> StoredObject {
    guard let name = path.components.last, !path.isCollection else {
      throw .refuse(404, "collections have no content")
    }
    let folder: Descriptor
    do throws(ExchangeEnd) {
      folder = try parent(of: path, creating: false)
    } catch {
      if case .refuse(let answer) = error, answer.status == 409 { throw .systemError(ENOENT, "open object") }
      throw error
    }
    guard let descriptor = folder.open(name, O_RDONLY | O_NONBLOCK) else { throw .systemError(errno, "open object") }
    return try object(descriptor)
  }

  private func object(_ descriptor: Descriptor) throws(ExchangeEnd) -> StoredObject {
    guard let status = descriptor.status else { throw .systemError(errno, "read status of object") }
    guard status.isRegular else { throw .refuse(404, "collections have no content") }
    return StoredObject(
      descriptor: descriptor, size: Int64(status.st_size), modifiedSeconds: status.st_mtim.tv_sec,
      crc32c: try checksums.checksum(of: descriptor, status))
  }

  /// Removes an object or an empty collection; durable on return. 404 when nothing is stored there.
  func remove(_ path: ObjectPath) throws(ExchangeEnd) {
    guard let name = path.components.last else { throw .refuse(403, "the root cannot be removed") }
    guard let status = try status(of: path) else { throw .systemError(ENOENT, "remove object") }
    let folder = try parent(of: path, creating: false)
    let flags = status.isDirectory ? AT_REMOVEDIR : 0
    guard name.withCString({ unlinkat(folder.number, $0, flags) }) == 0 else {
      throw .systemError(errno, "remove object")
    }
    guard fsync(folder.number) == 0 else { throw .systemError(errno, "make removal durable") }
  }

  /// Makes one collection; durable on return. 405 when the name is taken, 409 when a parent is missing.
  /// Source: RFC 4918 section 9.3.1.
  func makeCollection(_ path: ObjectPath) throws(ExchangeEnd) {
    guard let name = path.components.last else { throw .refuse(405, "the root exists") }
    let folder = try parent(of: path, creating: false)
    guard name.withCString({ mkdirat(folder.number, $0, 0o755) }) == 0 else {
      throw errno == EEXIST ? .refuse(405, "the name is taken") : .systemError(errno, "make collection")
    }
    guard fsync(folder.number) == 0 else { throw .systemError(errno, "make collection durable") }
  }
}
