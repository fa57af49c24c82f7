import CSys
import Glibc

/// Space on the ledger's disk that an engine sets aside while it runs, as the file `<ledger>.reserve`. When the disk is
/// full it is released, so that the results of requests that were already sent can still be committed.
///
/// Best effort: if the space is not available, the engine works without it. Used by one thread at a time.
final class SpaceReserve {
  /// Bytes; at most an eighth of what is free.
  static let largest: Int64 = 4 << 20
  private static let smallest: Int64 = 64 << 10
  private let path: String
  private let folder: String

  init(ledgerPath: String) {
    path = ledgerPath + ".reserve"
    folder = StoreFile.split(ledgerPath).folder
  }

  /// Allocates the space, replacing what a crashed engine left.
  func allocate() {
    release()
    let size = min(Self.largest, csys_free_bytes(folder) / 8)
    guard size >= Self.smallest else { return }
    let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    let failure = posix_fallocate(descriptor, 0, off_t(size))
    Glibc.close(descriptor)
    if failure != 0 { release() }
  }

  /// Releases the space. False if there was none.
  @discardableResult
  func release() -> Bool { unlink(path) == 0 }
}
