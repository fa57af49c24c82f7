import TransferLedger
import TransferModel
import TransferProtocols

/// What the loop knows of requests and files.
extension EngineLoop {
  // Objects, because a turn of the loop touches each some ten times: as values their many parts would be counted each
  // time.

  /// A request that was begun in the ledger.
  final class Job {
    let id: JobID
    let file: FileID
    var step: JobStep
    let range: ByteRange?
    let destination: BatchDestination
    var phase = Phase.preparing
    var prepared: Prepared?
    /// When it went to the transport, by the boot clock.
    var sentMs: Int64 = 0
    /// Of a request that ends its file.
    var inquiry: Inquiry?
    /// Of a question: the request that it is about.
    var beside: JobID?
    /// Bytes of the body before those of the file.
    var prefixLength = 0
    /// What was known of the destination when the request was made.
    var learnedWhenSent: LearnedFacts?
    /// How often the credentials had been read again when the request was begun.
    var credentialGeneration = 0
    enum Phase {
      case preparing, ready, sending
      /// Its answer is there: it is being read, or the ledger is asked about it.
      case answered
    }

    init(_ id: JobID, file: FileID, step: JobStep, range: ByteRange?, destination: BatchDestination) {
      self.id = id
      self.file = file
      self.step = step
      self.range = range
      self.destination = destination
    }

    var host: String { destination.host.name }
    var batch: BatchID { destination.batch }
  }

  /// A file in work with its open descriptor.
  final class Work {
    var machine: FileMachine
    var source: SourceFile?
    /// Of a download: the local file that it becomes.
    let target: Target?
    let version: SourceVersion
    /// The identity of the source, or of the partial file, as the ledger knows it.
    var recorded: SourceIdentity
    /// Of the whole file, as far as the protocol needed them.
    var fileDigests: [DigestAlgorithm: Digest] = [:]
    var jobs: Set<JobID> = []
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
}
