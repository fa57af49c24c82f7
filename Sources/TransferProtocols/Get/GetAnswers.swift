public import HTTPTypes
public import TransferModel

extension GetProtocol {
  public func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    if let failure = reply.transportFailure { return .failed(failure, Remedy(transport: failure)) }
    switch step {
    case .create: return described(reply, context)
    case .chunk(let chunk): return fetched(reply, chunk, facts, context)
    case .probe, .prepareChunk, .probeChunk, .discover, .finish, .save, .verify, .abort, .makeParent:
      return .failed(Failure(.engineBug, "\(name) has no request for \(step.operation)"), .permanent)
    }
  }

  /// HEAD: which version there is.
  private func described(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    guard reply.status == 200 else { return .refused(reply, context) }
    guard let version = RemoteVersion(reply) else {
      let text = "the server does not say how long the file is; such files cannot be fetched yet"
      return .failed(Failure(.protoUnsupported, text), .permanent)
    }
    return Interpretation.opened(OpenedSession(remoteID: version.name, expiresAtMs: nil)).with(notes: version.notes)
  }

  /// Content, taken by the sink as far as it came: what ``content(status:_:of:_:)`` refused never gets here.
  private func fetched(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard reply.status == (chunk.isPart(of: facts) ? 206 : 200) else { return refused(reply, context) }
    let through = chunk.body.offset + reply.bytesReceived
    guard through == chunk.range.end, reply.answerFailure == nil else {
      return brokenOff(reply, chunk, through, facts)
    }
    let digest = chunk.digests[sentDigest]
    return .stored(
      PartReceipt(
        seq: chunk.seq, length: chunk.range.length, etag: reply.field("etag") ?? "", digest: digest, confirmation: .size
      ), proof: nil)
  }

  /// What came is kept where the rest can be asked for.
  private func brokenOff(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ through: Int64, _ facts: TransferFacts
  ) -> Interpretation {
    if reply.bytesReceived > 0, through < chunk.range.end, RemoteVersion(facts.session)?.hasRanges == true {
      return .advanced(acked: through - chunk.range.offset)
    }
    let text = "the body ended after \(reply.bytesReceived) of \(chunk.body.length) bytes"
    return .failed(reply.answerFailure ?? Failure(.netReset, text), .retry(isThrottled: false))
  }

  private func refused(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    guard reply.status == 416 else { return .refused(reply, context) }
    let now = ContentRange(reply.field("content-range"))?.size.map { " and has \($0) bytes now" } ?? ""
    return .failed(Failure(.sourceChanged, "the remote file changed: it has no such range\(now)"), .permanent)
  }
}

extension GetProtocol: BodiesInAnswers {
  public func content(
    status: Int, _ fields: HTTPFields, of chunk: ChunkFacts, _ facts: TransferFacts
  ) -> Result<ByteRange?, Failure> {
    guard status == 200 || status == 206, let version = RemoteVersion(facts.session) else { return .success(nil) }
    if let coding = fields[.contentEncoding], coding.lowercased() != "identity" {
      return .failure(Failure(.protoBadReply, "the server sent the file in the coding \(printable(coding)), unasked"))
    }
    return chunk.isPart(of: facts) ? part(status, fields, chunk, version) : whole(status, fields, chunk, version)
  }

  public func modificationTimeMs(_ facts: TransferFacts) -> Int64? {
    RemoteVersion(facts.session)?.modified.flatMap { HTTPDate.parse($0, wallMs: facts.wallMs) }
  }

  private func part(
    _ status: Int, _ fields: HTTPFields, _ chunk: ChunkFacts, _ version: RemoteVersion
  ) -> Result<ByteRange?, Failure> {
    guard status == 206 else {
      // The condition failed, or the server does not know ranges after all.
      let change = version.change(in: fields, size: Self.length(fields))
      return .failure(
        change ?? Failure(.protoUnsupported, "the server sent the whole file where a range of it was asked for"))
    }
    guard let content = ContentRange(fields[.contentRange]), let range = content.range else {
      return .failure(Failure(.protoBadReply, "the server sent a range and does not say which"))
    }
    if let change = version.change(in: fields, size: content.size) { return .failure(change) }
    guard range.offset == chunk.body.offset, range.end <= chunk.body.end else {
      let sent = "the server sent the bytes from \(range.offset) to \(range.end)"
      return .failure(
        Failure(.protoBadReply, "\(sent) where \(chunk.body.offset) to \(chunk.body.end) were asked for"))
    }
    return .success(range)
  }

  private func whole(
    _ status: Int, _ fields: HTTPFields, _ chunk: ChunkFacts, _ version: RemoteVersion
  ) -> Result<ByteRange?, Failure> {
    guard status == 200 else {
      return .failure(Failure(.protoBadReply, "the server sent a range where the whole file was asked for"))
    }
    if let change = version.change(in: fields, size: Self.length(fields)) { return .failure(change) }
    return .success(chunk.body)
  }

  private static func length(_ fields: HTTPFields) -> Int64? { fields[.contentLength].flatMap { Int64($0) } }
}
