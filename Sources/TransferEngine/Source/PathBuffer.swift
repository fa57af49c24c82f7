#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The bytes of a name; valid only during the call that receives them.
public typealias BorrowedName = UnsafeRawBufferPointer

/// A path that grows and shrinks in place, always NUL-terminated: a walk over millions of files allocates no strings.
final class PathBuffer {
  private var storage: UnsafeMutablePointer<CChar>
  private var room: Int
  private(set) var count = 0

  init() {
    room = 4096
    storage = .allocate(capacity: room)
    storage[0] = 0
  }

  deinit { storage.deallocate() }

  var bytes: BorrowedName { UnsafeRawBufferPointer(start: storage, count: count) }
  var cString: UnsafePointer<CChar> { UnsafePointer(storage) }
  func suffix(from start: Int) -> BorrowedName { UnsafeRawBufferPointer(rebasing: bytes[min(start, count)...]) }

  func truncate(to count: Int) {
    self.count = count
    storage[count] = 0
  }

  func append(_ bytes: BorrowedName) {
    reserve(bytes.count + 1)
    if let start = bytes.baseAddress { memcpy(storage + count, start, bytes.count) }
    truncate(to: count + bytes.count)
  }

  /// Appends a slash and a component; the root already ends with a slash.
  func appendComponent(_ name: BorrowedName) {
    if count == 0 || storage[count - 1] != 0x2F { withUnsafeBytes(of: UInt8(0x2F)) { append($0) } }
    append(name)
  }

  private func reserve(_ more: Int) {
    guard count + more > room else { return }
    let larger = max(room * 2, count + more)
    let moved = UnsafeMutablePointer<CChar>.allocate(capacity: larger)
    moved.update(from: storage, count: count + 1)
    storage.deallocate()
    storage = moved
    room = larger
  }
}
