import TransferModel

extension S3Protocol {
  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    let answer = answer(reply, facts, context)
    if let failure = reply.transportFailure { return lost(failure, answer, step) }
    switch step {
    case .create: return S3CreateAnswer(answer: answer).interpretation
    case .probe(let marker):
      return facts.session?.remoteID == nil
        ? S3UploadsAnswer(answer: answer, marker: marker).interpretation
        : S3PartsAnswer(answer: answer, marker: marker).interpretation
    case .chunk(let chunk): return S3ChunkAnswer(answer: answer, chunk: chunk).interpretation
    case .finish: return S3CompleteAnswer(answer: answer).interpretation
    case .verify: return S3VerifyAnswer(answer: answer).interpretation
    case .abort: return S3AbortAnswer(answer: answer).interpretation
    case .makeParent, .prepareChunk, .probeChunk, .discover, .save:
      return .failed(Failure(.engineBug, "s3 has no request for \(step.operation)"), .permanent)
    }
  }

  func answer(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> S3Answer {
    S3Answer(reply: reply, facts: facts, context: context, settings: settings)
  }

  /// No answer was received. Creating and completing may have succeeded: the next step queries that.
  private func lost(_ failure: Failure, _ answer: S3Answer, _ step: StepRequest) -> Interpretation {
    let action = FailureAction(transport: failure)
    guard answer.reply.requestMayHaveArrived, case .retry = action else { return .failed(failure, action) }
    switch step {
    case .chunk(let chunk): return S3ChunkAnswer(answer: answer, chunk: chunk).doubted(.failed(failure, action))
    case .create, .finish: return .failed(failure, .probe)
    default: return .failed(failure, action)
    }
  }

  public var digestsOfListing: Set<DigestAlgorithm> { [.crc64nvme, .md5] }

  /// A part of an engine that crashed while it waited for the answer: it counts as stored if the list matches the
  /// content of the source.
  package func receipt(of chunk: ChunkFacts, in listing: ListedPart) -> PartReceipt? {
    guard listing.length == chunk.range.length, chunk.body == chunk.range else { return nil }
    return S3PartsAnswer.receipt(listing, chunk.digests[.crc64nvme], chunk.digests[.md5])
  }
}
