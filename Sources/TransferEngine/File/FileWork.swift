import TransferLedger
import TransferModel
import TransferProtocols

/// A file in work with its open descriptor.
///
/// An object, because a turn of the loop touches each some ten times: as a value its many parts would be counted each
/// time.
final class FileWork {
  var machine: FileMachine
  var source: SourceFile?
  /// Of a download: the local file that it becomes.
  let target: Target?
  let version: SourceVersion
  /// The identity of the source, or of the partial file, as the ledger knows it.
  var recorded: SourceIdentity
  /// Of the whole file, as far as the protocol needed them.
  var fileDigests: [DigestAlgorithm: Digest] = [:]
  var jobs: Set<Job.ID> = []
  /// What a person asked and the engine has begun to do.
  var wish: Wish?
  /// Why the ledger refused a change of the file; nothing is done for it any more.
  var refusal: String?
  /// Chunks at a time.
  var concurrency: Concurrency
  let destination: BatchDestination

  init(
    machine: FileMachine, version: SourceVersion, target: Target?, destination: BatchDestination, chunks: Int
  ) {
    self.machine = machine
    self.target = target
    self.version = version
    recorded = version.identity
    concurrency = Concurrency(first: chunks, highest: chunks, isExplicit: true)
    self.destination = destination
  }
}
