import TransferLedger
import TransferModel
import TransferProtocols

/// What the loop knows of requests, files, batches and hosts.
extension EngineLoop {
  // Objects, because a turn of the loop touches each some ten times: as values their many parts would be counted each time.

  /// A request that was begun in the ledger.
  final class Job {
    let id: JobID
    let file: FileID
    var step: JobStep
    let range: ByteRange?
    let destination: Destination
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

    init(_ id: JobID, file: FileID, step: JobStep, range: ByteRange?, destination: Destination) {
      self.id = id
      self.file = file
      self.step = step
      self.range = range
      self.destination = destination
    }

    var host: String { destination.host.name }
    var batch: BatchID { destination.batch }
  }

  /// What a host has of the engine, over all batches.
  final class Host {
    let name: String
    /// Files in work, and requests that were asked of the ledger and have not ended.
    var files = 0
    var requests = 0
    /// Requests at a time, as the ledger knows it.
    var notedConcurrency: Int?
    var bodyLength = BodyLength()
    var pauses = PauseMemory()

    init(name: String) { self.name = name }
  }

  /// What the batches with the same settings were refused.
  final class Refusals {
    let settings: BatchSettings
    var watch = RefusalWatch()
    /// Why they are held back.
    var error: TransferError?

    init(settings: BatchSettings) { self.settings = settings }
  }

  /// A batch of this run and where it goes.
  final class Destination {
    let batch: BatchID
    let resolved: ResolvedDestination
    let host: Host
    let refusals: Refusals
    var learned = LearnedFacts()
    /// Its files in work, and its requests that were asked of the ledger and have not ended.
    var files = 0 { didSet { host.files += files - oldValue } }
    var requests = 0 { didSet { host.requests += requests - oldValue } }
    /// Requests at a time, when that is fewer than the engine may have.
    var share: Int?
    /// Bytes a second, when it has a limit of its own.
    var rate: Int64?
    /// The file whose request asks what can be done there, and those that wait for what it learns.
    var discoverer: FileID?
    var undecided: [FileID] = []

    init(batch: BatchID, resolved: ResolvedDestination, host: Host, refusals: Refusals) {
      self.batch = batch
      self.refusals = refusals
      self.resolved = resolved
      self.host = host
    }
  }

  /// A file in work with its open descriptor.
  final class Work {
    var machine: FileMachine
    var source: SourceFile?
    let version: SourceVersion
    /// The identity of the source as the ledger knows it.
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
    let destination: Destination

    init(machine: FileMachine, version: SourceVersion, destination: Destination, chunks: Int) {
      self.machine = machine
      self.version = version
      recorded = version.identity
      concurrency = Concurrency(first: chunks, highest: chunks, isExplicit: true)
      self.destination = destination
    }
  }
}
