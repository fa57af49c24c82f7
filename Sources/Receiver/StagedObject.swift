import Glibc
import TransferModel

/// A body that is being received: a file in the hidden folder that disappears unless it is published. Used by one
/// thread.
final class StagedObject {
  private let store: ObjectStore
  private let name: NameBytes
  let descriptor: Descriptor
  private var isStaged = true
  private(set) var size: Int64 = 0
  /// The modification time that the object gets, in seconds since 1970; nil for that of its last byte.
  var modifiedSeconds: Int64?

  init(_ store: ObjectStore) throws(ExchangeEnd) {
    let number = store.serial.withLock { serial in
      serial += 1
      return serial
    }
    let name = NameBytes("\(number).part")
    guard let descriptor = store.staging.open(name, O_RDWR | O_CREAT | O_EXCL) else {
      throw .systemError(errno, "make part file")
    }
    self.store = store
    self.name = name
    self.descriptor = descriptor
  }

  deinit { if isStaged { unstage() } }

  func append(_ bytes: UnsafeRawBufferPointer) throws(ExchangeEnd) {
    var rest = bytes
    while !rest.isEmpty {
      let written = Glibc.write(descriptor.number, rest.baseAddress!, rest.count)
      if written < 0 && errno == EINTR { continue }
      guard written > 0 else { throw .systemError(errno, "write part file") }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
    }
    size += Int64(bytes.count)
  }

  /// The condition for taking a final name.
  enum Condition {
    case replace
    /// Refused with 412 when the name is taken; decided by the kernel, not by a check beforehand.
    case createOnly
    /// Refused with 412 unless the object there has this entity tag; with nil, unless there is any object.
    case match(String?)
  }

  /// Gives the body its final name: syncs the data, then sets the name, then syncs the folder. Durable on return.
  /// `visible` runs immediately after the name appeared, before any other name can. Returns true when the name was
  /// free.
  func publish(
    at path: ObjectPath, _ condition: Condition, crc32c: UInt32, visible: () throws(ExchangeEnd) -> Void
  ) throws(ExchangeEnd) -> Bool {
    try makeDurable()
    let folder = try store.parent(of: path, creating: true)
    let created = try store.publishing.withLock { count throws(ExchangeEnd) in
      count += 1
      let created = try take(path, in: folder, condition)
      if let status = descriptor.status { store.checksums.remember(crc32c, status) }
      try visible()
      return created
    }
    guard fsync(folder.number) == 0 else { throw .systemError(errno, "make name durable") }
    return created
  }

  private func makeDurable() throws(ExchangeEnd) {
    guard let modifiedSeconds else {
      guard fdatasync(descriptor.number) == 0 else { throw .systemError(errno, "make object durable") }
      return
    }
    let time = timespec(tv_sec: Int(modifiedSeconds), tv_nsec: 0)
    guard futimens(descriptor.number, [time, time]) == 0, fsync(descriptor.number) == 0 else {
      throw .systemError(errno, "make object durable")
    }
  }

  private func take(_ path: ObjectPath, in folder: Descriptor, _ condition: Condition) throws(ExchangeEnd) -> Bool {
    let target = path.components.last!
    let previous = ObjectStore.status(of: target, in: folder)
    if let previous, previous.isDirectory { throw .refuse(409, "the name belongs to a collection") }
    switch condition {
    case .createOnly:
      try link(target, in: folder)
    case .match(let etag):
      guard previous != nil else { throw .refuse(412, "If-Match failed") }
      if let etag, try store.object(at: path).etag != etag { throw .refuse(412, "If-Match failed") }
      try rename(target, in: folder)
    case .replace:
      try rename(target, in: folder)
    }
    return previous == nil
  }

  private func rename(_ target: NameBytes, in folder: Descriptor) throws(ExchangeEnd) {
    let moved = name.withCString { from in
      target.withCString { to in renameat(store.staging.number, from, folder.number, to) }
    }
    guard moved == 0 else { throw .systemError(errno, "name object") }
    isStaged = false
  }

  private func link(_ target: NameBytes, in folder: Descriptor) throws(ExchangeEnd) {
    let linked = name.withCString { from in
      target.withCString { to in linkat(store.staging.number, from, folder.number, to, 0) }
    }
    guard linked == 0 else {
      throw errno == EEXIST ? .refuse(412, "the name is taken") : .systemError(errno, "name object")
    }
    unstage()
    isStaged = false
  }

  private func unstage() { _ = name.withCString { unlinkat(store.staging.number, $0, 0) } }
}
