import TransferLedger
import TransferModel
import TransferProtocols

/// A request that was begun in the ledger.
///
/// An object, because a turn of the loop touches each some ten times: as a value its many parts would be counted each
/// time.
final class Job {
  typealias ID = Scheduler.JobID

  let id: ID
  let file: FileID
  var step: JobStep
  let range: ByteRange?
  let destination: BatchDestination
  var phase = Phase.preparing
  var prepared: Prepared?
  /// When it went to the transport, by the boot clock.
  var sentMs: Int64 = 0
  /// Of a request that ends its file.
  var inquiry: EngineLoop.Inquiry?
  /// Of a question: the request that it is about.
  var beside: ID?
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

  init(_ id: ID, file: FileID, step: JobStep, range: ByteRange?, destination: BatchDestination) {
    self.id = id
    self.file = file
    self.step = step
    self.range = range
    self.destination = destination
  }

  var host: String { destination.host.name }
  var batch: BatchID { destination.batch }
}
