import HTTPTypes
import TransferModel

extension GetProtocol {
  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    if step == .probe(marker: BlockNotes.marker) { return published(reply, facts, context) }
    switch step {
    case .probe(marker: PartNotes.marker) where !facts.file.key.isFolder: return divided(reply, facts, context)
    case .probe(marker: CompositeNotes.marker) where !facts.file.key.isFolder: return listed(reply, facts, context)
    default: break
    }
    if let failure = reply.transportFailure { return .failed(failure, FailureAction(transport: failure)) }
    if facts.file.key.isFolder { return source.page(reply, facts, context) }
    if case .probe = step { return described(reply, facts, context) }
    if let meaning = source.meaning(of: reply, facts, context) { return meaning }
    switch step {
    case .create: return begun(reply, facts, context)
    case .chunk(let chunk): return fetched(reply, chunk, facts, context)
    case .probe, .prepareChunk, .probeChunk, .discover, .finish, .save, .verify, .abort, .makeParent:
      return .failed(Failure(.engineBug, "\(name) has no request for \(step.operation)"), .permanent)
    }
  }

  // MARK: - The first answer

  /// Interprets the first answer: the version of the file, and its first bytes, which the sink has accepted.
  private func begun(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    switch reply.status {
    case 200: return begunWhole(reply, facts, context)
    case 206: return begunInPart(reply, facts, context)
    case 304: return unchanged(reply, facts, context)
    case 416: return begunBehindTheEnd(reply, facts, context)
    default: return Self.refused(reply, context)
    }
  }

  /// The whole file arrived in one body; a partial one cannot be resumed.
  private func begunWhole(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    if let meaning = leftCoding(reply, facts, context) { return meaning }
    let (length, isCoded) = (length(reply.fields, facts), isCoded(reply.fields, facts))
    if length != reply.bytesReceived, let failure = Self.brokenOff(reply, of: length) {
      return .failed(failure, .retry(isThrottled: false))
    }
    var version = version(size: reply.bytesReceived, reply.fields, isWhole: true, context)
    version.isEndUncertain = Self.length(reply.fields) == nil && !reply.fields.isChunked
    if isCoded { version.digests = [] }
    guard !facts.isPlanned || facts.layout.size == version.size else {
      let text = "the remote file changed its size from \(facts.layout.size) to \(version.size) bytes"
      return .failed(Failure(.sourceChanged, text), .permanent)
    }
    return begun(version, received: version.size, facts, context)
  }

  private func begunInPart(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation
  {
    guard let content = ContentRange(reply.fields[.contentRange]), let size = content.size, let range = content.range
    else { return Self.refused(reply, context) }
    var version = version(size: size, reply.fields, isWhole: range.length == size, context)
    // A content coding applies to the whole file; its meaning for a range is unclear.
    version.acceptsRanges =
      source.sendsWhatIsStored || reply.fields[.contentEncoding].map { $0.lowercased() == "identity" } ?? true
    if facts.isPlanned, facts.layout.count > 1, !version.hasRanges(facts.file.expected) {
      let text = "the server no longer has a strong validator of the file: it is fetched again, in one body"
      return .failed(Failure(.sourceChanged, text), .permanent)
    }
    let broken = Self.brokenOff(reply, of: range.length)
    if let broken, reply.bytesReceived == 0 { return .failed(broken, .retry(isThrottled: false)) }
    let isOfUse = version.hasRanges(facts.file.expected) || reply.bytesReceived == size
    return begun(version, received: isOfUse ? reply.bytesReceived : 0, facts, context)
  }

  /// 416: the file is empty when its total is 0.
  private func begunBehindTheEnd(
    _ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard source.size(behindTheEnd: reply) == 0 else {
      return withoutRanges("the server has no beginning of the file", context.learned)
    }
    guard !facts.isPlanned || facts.layout.size == 0 else {
      return .failed(Failure(.sourceChanged, "the remote file changed: it is empty now"), .permanent)
    }
    let version = version(size: 0, reply.fields, isWhole: false, context)
    return begun(version, received: 0, facts, context)
  }

  /// 304: the server still has the version that was fetched before. The next step finds which of its bytes are still
  /// here.
  private func unchanged(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    let learned = context.learnedWhenSent ?? context.learned
    guard let past = PastVersion(facts), let condition = PastVersion.condition(facts, context, learned) else {
      return Self.refused(reply, context)
    }
    if let doubt = past.doubt(in: reply.fields, condition) {
      var learned = context.learned
      learned.misusesConditions = true
      return .failed(Failure(.protoBadReply, doubt), .repair).with(learned: learned)
    }
    let layout = past.download.layout
    return Interpretation(.begun(FileBeginning(layout: layout, received: 0)))
      .with(opened: OpenedSession(remoteID: past.version.name, expiresAtMs: nil)).with(notes: past.version.notes)
      .with(notes: notesOfPieces(past.version, received: 0, facts.file.expected, context))
  }

  private func begun(
    _ version: RemoteVersion, received: Int64, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    if let unexpected = Self.unexpected(version, facts.file.expected) { return unexpected }
    let pieces = facts.file.expected.pieces
    if let pieces, let wrong = context.wrongPieces.first {
      var meaning = Interpretation.failed(
        Self.wrongPiece(wrong, pieces, version.size), .retry(isThrottled: false))
      meaning.provesWrong = true
      return meaning
    }
    // An incomplete piece cannot be compared, and its rest may come from another place.
    let received =
      pieces.map { min(received == version.size ? received : received / $0.length * $0.length, received) }
      ?? received
    let past = pastLayout(of: version, received: received, facts, context)
    let asksForParts = past == nil && self.asksForParts(of: version, received: received, facts, context)
    let usual = asksForParts ? ChunkLayout(whole: version.size) : layout(of: version, facts.file.expected)
    let layout = facts.isPlanned ? facts.layout : past ?? usual
    let first = layout.range(0).length
    var part: PartReceipt?
    if received == first {
      let digest = context.receivedDigest ?? (first == 0 ? RunningDigest.of([], sentDigest) : nil)
      part = PartReceipt(
        seq: 0, length: first, etag: version.etag ?? "", digest: digest,
        confirmation: version.isEndUncertain ? .none : .size)
    }
    return Interpretation(.begun(FileBeginning(layout: layout, received: received, part: part)))
      .with(opened: OpenedSession(remoteID: version.name, expiresAtMs: nil)).with(notes: version.notes)
      .with(notes: asksForParts ? PartNotes.wanted : [:])
      .with(notes: notesOfBlocks(version, received: received, facts, context))
      .with(notes: notesOfPieces(version, received: received, facts.file.expected, context))
  }

  /// The layout of the version that was fetched before, if the server still has it and its file exists: intact
  /// chunks can be used again.
  private func pastLayout(
    of version: RemoteVersion, received: Int64, _ facts: TransferFacts, _ context: RequestContext
  ) -> ChunkLayout? {
    guard context.holdsPast, let past = PastVersion(facts), past.isSame(as: version) else { return nil }
    let layout = past.download.layout
    let isOfUse = version.hasRanges(facts.file.expected) || layout.count == 1
    return isOfUse && received <= layout.range(0).length ? layout : nil
  }

  /// The length that is known only from the complete answer differs from the expected one.
  private static func unexpected(_ version: RemoteVersion, _ expected: ExpectedContent) -> Interpretation? {
    guard let wanted = expected.size, wanted != version.size else { return nil }
    let text = "the file must have \(wanted) bytes, but the received content has \(version.size)"
    return .failed(Failure(expected.isListed ? .sourceChanged : .integrityMismatch, text), .permanent)
  }

  func version(
    size: Int64, _ fields: HTTPFields, isWhole: Bool, _ context: RequestContext
  ) -> RemoteVersion {
    var version = RemoteVersion(size: size, fields, isWhole: isWhole, wallMs: context.wallMs)
    source.complete(&version, fields)
    if usesRemoteNames { version.givenName = ContentDisposition.name(fields[.contentDisposition]) }
    return version
  }

  // MARK: - Answers about a known version

  /// Interprets an answer whose content the sink has accepted: content that ``content(status:_:of:_:)`` refused never
  /// gets here.
  private func fetched(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard reply.status == (chunk.isPart(of: facts) ? 206 : 200) else { return refused(reply, facts, context) }
    if let meaning = leftCoding(reply, facts, context) { return meaning }
    let through = chunk.body.offset + reply.bytesReceived
    // The header says where the range ends. Once its last byte has arrived, it is complete, however the answer ended.
    guard through == chunk.body.end, reply.status == 206 || reply.answerFailure == nil else {
      return brokenOff(reply, chunk, through, facts)
    }
    if let meaning = judged(chunk, wrong: context.wrongPieces, facts) { return meaning }
    let missing = MissingRanges(chunk)
    if let left = missing?.without(chunk.body), !left.isEmpty { return .pieceStored(left.notes) }
    var part = PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: reply.field("etag") ?? "", digest: chunk.digests[sentDigest],
      confirmation: .size)
    part.reused = missing?.reused ?? MissingPieces(chunk, facts)?.reused
    return .stored(part, proof: nil)
  }

  /// Keeps the received bytes if the rest can be requested.
  private func brokenOff(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ through: Int64, _ facts: TransferFacts
  ) -> Interpretation {
    if reply.bytesReceived > 0, through < chunk.range.end, through > chunk.rest.offset,
      MissingPieces(chunk, facts) == nil, MissingRanges(chunk) == nil,
      RemoteVersion(facts.session)?.hasRanges(facts.file.expected) == true
    {
      return .advanced(acked: through - chunk.range.offset)
    }
    let failure = Self.brokenOff(reply, of: chunk.body.length)
    var meaning = Interpretation.failed(
      failure ?? Failure(.protoBadReply, "the body is longer than the file"), .retry(isThrottled: false))
    guard let missing = MissingRanges(chunk), chunk.body.offset < through, through < chunk.body.end else {
      return meaning
    }
    // What did arrive is not requested again.
    let left = missing.without(ByteRange(offset: chunk.body.offset, length: reply.bytesReceived)).notes
    if BodyProgress.forgives(reply.bytesReceived, ofFile: facts.layout.size) {
      meaning = .pieceStored(left)
      meaning.received = reply.bytesReceived
    } else {
      meaning.chunkNotes = left
    }
    return meaning
  }

  private static func brokenOff(_ reply: TransferReply, of length: Int64?) -> Failure? {
    if let failure = reply.answerFailure { return failure }
    guard let length, reply.bytesReceived < length else { return nil }
    return Failure(.netReset, "the body ended after \(reply.bytesReceived) of \(length) bytes")
  }

  private func refused(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    guard reply.status == 416 else { return Self.refused(reply, context) }
    let now = source.size(behindTheEnd: reply)
    // Every range that is requested lies within the file: the answer does not say that all of it is here.
    if now == facts.layout.size { return noRanges(context.learned, "the server refused a range within the file (416)") }
    let text = "the remote file changed: it has no such range" + (now.map { " and has \($0) bytes now" } ?? "")
    return .failed(Failure(.sourceChanged, text), .permanent)
  }

  /// Interprets an answer without content. Redirects that can be followed do not get here.
  private static func refused(_ reply: TransferReply, _ context: RequestContext) -> Interpretation {
    guard (300..<400).contains(reply.status) else { return .refused(reply, context) }
    let text =
      switch reply.status {
      case 300: "the server answered 300 and offers several files; give the URL of one of them"
      case 304: "the server answered 304 (not modified) to a request that had no condition"
      default: "the server answered \(reply.status), which contains no file"
      }
    return .failed(Failure(reply.status == 304 ? .protoBadReply : .httpRedirect, text), .permanent)
  }
}
