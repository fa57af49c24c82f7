import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The syncs of a file that is being fetched, and what follows a write that was lost.
struct TargetSyncs: Sendable {
  private let descriptor: Int32
  private let identity: SourceIdentity
  /// The names of a partial file; nil for a file with its final name, which is not ours to remove.
  private let names: TargetNames?
  private let calls: FileSyncs
  /// Locked during each sync, so that no sync succeeds after one that reported a lost write.
  private let loss = Lock<Failure?>(nil)

  init(_ descriptor: Int32, _ identity: SourceIdentity, _ names: TargetNames?, _ calls: FileSyncs) {
    (self.descriptor, self.identity, self.names, self.calls) = (descriptor, identity, names, calls)
  }

  /// See ``TargetFile/beginSync()``.
  func begin() throws(Failure) {
    guard csys_begin_writing(descriptor) != 0 else { return }
    let code = errno
    throw loss.withLock { lost(&$0, code) }
  }

  /// See ``TargetFile/sync()``.
  func data() throws(Failure) { try sync(calls.data) }

  /// See ``TargetFile/syncAll()``.
  func all() throws(Failure) { try sync(calls.all) }

  private func sync(_ call: FileSyncs.Call) throws(Failure) {
    try loss.withLock { loss throws(Failure) in
      if let loss { throw loss }
      while call(descriptor) != 0 {
        guard errno == EINTR else { throw lost(&loss, errno) }
      }
    }
  }

  private func lost(_ loss: inout Failure?, _ code: Int32) -> Failure {
    if let loss { return loss }
    var failure = TargetFile.failure("sync the file", code)
    failure.message += "; none of the data written to it is trusted"
    failure.isLostWrite = true
    loss = failure
    if let names, let folder = try? TargetFolder(of: names), folder.holds(names.partial, identity) {
      _ = folder.remove(names.partial)
    }
    return failure
  }
}
