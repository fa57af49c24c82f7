import TransferLedger
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Ends of removals that something on the disk prevented.
extension RemovalEnd {
  static let stopped = RemovalEnd.putOff(.engineInterrupted, "the run was stopped")

  static func unable(to what: String, _ code: Int32) -> RemovalEnd {
    var failure = SourcePlaces.failure(what, code)
    if code == EACCES || code == EPERM { failure.code = .sourceDenied }
    return RemovalEnd(failure)
  }

  /// An unavailable, full or read-only file system, or a machine at its limits, says nothing about this source.
  init(_ failure: Failure) {
    if failure.code == .engineInterrupted {
      self = .stopped
    } else if failure.systemError.map({ Self.isPassing($0) }) ?? false {
      self = .putOff(failure.code, failure.message)
    } else {
      self = .failed(failure.code, failure.message)
    }
  }

  /// Whether an error of a system call says nothing about the source.
  static func isPassing(_ code: Int32) -> Bool { passing.contains(code) }

  /// EBUSY also occurs if the name is a mount point. Network and FUSE file systems report an unavailable server with
  /// ESTALE, EHOSTDOWN, ENOTCONN or ETIMEDOUT (errno(3)).
  private static let passing: Set<Int32> = [
    EBUSY, ETXTBSY, EAGAIN, EINTR, EROFS, ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM, ESTALE, ENODEV, ENXIO, ENOTCONN,
    EHOSTDOWN, EHOSTUNREACH, ETIMEDOUT,
  ]
}
