#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The system calls that sync a file, or their replacements in tests.
struct FileSyncs: Sendable {
  /// 0, or -1 with errno.
  typealias Call = @Sendable (Int32) -> Int32
  /// fdatasync(2).
  var data: Call
  /// fsync(2).
  var all: Call

  static let system = FileSyncs(data: { fdatasync($0) }, all: { fsync($0) })
}
