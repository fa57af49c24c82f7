import Glibc
import TransferModel

/// An opened stored object.
struct StoredObject {
  var descriptor: Descriptor
  var size: Int64
  var modifiedSeconds: Int
  var crc32c: UInt32
  /// Not 0 in another version of the stored object.
  var mask: UInt8 = 0

  /// Another version of the object: it has the same length, but every byte differs, and it was modified as many seconds
  /// later.
  func version(_ number: UInt8) throws(ExchangeEnd) -> StoredObject {
    var other = self
    other.mask = number
    other.modifiedSeconds += Int(number)
    other.crc32c = try ChecksumCache.compute(descriptor, mask: number)
    return other
  }

  var etag: String { objectETag(crc32c: crc32c, size: size) }
}

/// The strong entity tag of the receiver: `"<crc32c>-<size>"`.
func objectETag(crc32c: UInt32, size: Int64) -> String { "\"\(CRC32C.text(crc32c))-\(size)\"" }

extension ObjectStore {
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

/// XORs every byte with `mask`.
func applyMask(_ mask: UInt8, to bytes: UnsafeMutableRawBufferPointer) {
  if mask == 0 { return }
  for i in bytes.indices { bytes[i] ^= mask }
}

/// Remembers checksums of files: a file that changed in any way since is read again.
final class ChecksumCache: Sendable {
  private struct Identity: Hashable {
    var device: UInt
    var inode: UInt
    var size: Int
    var modified: [Int]

    init(_ status: stat) {
      device = UInt(status.st_dev)
      inode = UInt(status.st_ino)
      size = Int(status.st_size)
      modified = [
        status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
      ]
    }
  }

  private let known = Lock<[Identity: UInt32]>([:])
  private static let limit = 100_000

  func remember(_ crc32c: UInt32, _ status: stat) {
    known.withLock { known in
      if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
      known[Identity(status)] = crc32c
    }
  }

  func checksum(of file: Descriptor, _ status: stat) throws(ExchangeEnd) -> UInt32 {
    if let found = known.withLock({ $0[Identity(status)] }) { return found }
    let computed = try Self.compute(file)
    remember(computed, status)
    return computed
  }

  /// The checksum of the content with every byte XORed with `mask`.
  static func compute(_ file: Descriptor, mask: UInt8 = 0) throws(ExchangeEnd) -> UInt32 {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
    defer { buffer.deallocate() }
    var crc = CRC32C()
    var offset: off_t = 0
    while true {
      let count = pread(file.number, buffer.baseAddress!, buffer.count, offset)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .systemError(errno, "read object") }
      if count == 0 { return crc.value }
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      applyMask(mask, to: piece)
      crc.add(UnsafeRawBufferPointer(piece))
      offset += count
    }
  }
}
