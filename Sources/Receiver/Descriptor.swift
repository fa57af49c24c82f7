import Glibc
import TransferModel

/// An open file or directory, closed with its last owner.
final class Descriptor: Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { _ = close(number) }

  /// `fstat`; nil on failure, with the reason in `errno`.
  var status: stat? {
    var out = stat()
    return fstat(number, &out) == 0 ? out : nil
  }

  /// Opens `name` inside this directory without following a symbolic link. Nil on failure, with the reason in `errno`.
  func open(_ name: NameBytes, _ flags: Int32, mode: mode_t = 0o644) -> Descriptor? {
    let opened = name.withCString { openat(number, $0, flags | O_NOFOLLOW | O_CLOEXEC, mode) }
    return opened < 0 ? nil : Descriptor(opened)
  }
}

extension NameBytes {
  /// Runs `body` with the name in the form that system calls expect. The name must not contain NUL.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (bytes + [0]).withUnsafeBytes { body($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
  }
}

extension stat {
  var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
  var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
}

/// CLOCK_MONOTONIC in nanoseconds.
func monotonicNanoseconds() -> Int64 {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}

/// Milliseconds since 1970 UTC.
func wallMilliseconds() -> Int64 {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}
