import TransferLedger
import TransferModel
import TransferProtocols

/// A begun request, as the file machine sees it.
struct BegunRequest: Sendable, Hashable {
  enum Target: Sendable, Hashable {
    case chunk(ChunkID, AttemptID)
    case control(AttemptID)
  }
  var target: Target
  var step: StepRequest
  /// Consecutive earlier attempts of this chunk (or file) without progress.
  var failures: Int
  /// Nothing is sent, because the server's listing proves that it has the chunk.
  var isFound = false

  init(target: Target, step: StepRequest, failures: Int) {
    (self.target, self.step, self.failures) = (target, step, failures)
  }
}

/// When a failed step may be tried again, decided by the engine (the machine has neither a clock nor a random number
/// generator).
struct RetryDecision: Sendable, Hashable {
  var notBeforeMs: Int64
  /// There were too many attempts without progress.
  var isExhausted: Bool
  /// The current identity of the source, if the failure says that it changed.
  var identityNow: SourceIdentity?
  /// The server reported a success before it had received the body: nobody knows whether it has the file.
  var mayBeStored = false
  /// The source changed too often in this run.
  var isRestless = false
  /// A shorter layout for a file of which hardly anything is stored, because bodies of the current length do not
  /// arrive.
  var shorterLayout: ChunkLayout?
}

extension StepRequest {
  /// True if it is for a chunk of which the server has never lost anything.
  var isOfNewChunk: Bool { chunk?.losses == 0 }

  /// The protocol compares or sends the receipts of stored chunks.
  var usesParts: Bool {
    switch self {
    case .probe, .finish, .save, .verify: true
    case .create, .chunk, .prepareChunk, .probeChunk, .discover, .abort, .makeParent: false
    }
  }
}

extension BegunRequest {
  /// The row of its chunk; nil for a control step.
  var chunk: ChunkID? {
    switch target {
    case .chunk(let chunk, _): chunk
    case .control: nil
    }
  }

  var attempt: AttemptID {
    switch target {
    case .chunk(_, let attempt), .control(let attempt): attempt
    }
  }

  /// A failure if the server stored almost nothing of a body; nil if it stored more, or all of it.
  func tinyProgress(to acked: Int64) -> Failure? {
    guard let chunk = step.chunk, BodyProgress.isTiny(acked - chunk.acked, of: chunk.body.length) else {
      return nil
    }
    let taken = acked - chunk.acked
    return Failure(
      .protoBadReply, "only \(taken) of \(chunk.body.length) bytes are stored, although the server reported success")
  }
}
