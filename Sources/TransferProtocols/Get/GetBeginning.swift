import HTTPTypes
import TransferModel

/// The first answer: the version of the file, and its first bytes, which the sink has accepted.
struct GetBeginning {
  let answer: GetAnswer

  private var get: GetProtocol { answer.get }
  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }
  private var context: RequestContext { answer.context }

  var interpretation: Interpretation {
    switch reply.status {
    case 200: return whole()
    case 206: return inPart()
    case 304: return unchanged()
    case 416: return behindTheEnd()
    default: return answer.refused()
    }
  }

  /// The whole file arrived in one body; a partial one cannot be resumed.
  private func whole() -> Interpretation {
    if let meaning = get.leftCoding(reply, facts, context) { return meaning }
    let (length, isCoded) = (get.length(reply.fields, facts), get.isCoded(reply.fields, facts))
    if length != reply.bytesReceived, let failure = answer.brokenOff(of: length) {
      return .failed(failure, .retry(isThrottled: false))
    }
    var version = get.version(size: reply.bytesReceived, reply.fields, isWhole: true, context)
    version.isEndUncertain = GetProtocol.length(reply.fields) == nil && !reply.fields.isChunked
    if isCoded { version.digests = [] }
    guard !facts.isPlanned || facts.layout.size == version.size else {
      let text = "the remote file changed its size from \(facts.layout.size) to \(version.size) bytes"
      return .failed(Failure(.sourceChanged, text), .permanent)
    }
    return begun(version, received: version.size)
  }

  private func inPart() -> Interpretation {
    guard let content = ContentRange(reply.fields[.contentRange]), let size = content.size, let range = content.range
    else { return answer.refused() }
    var version = get.version(size: size, reply.fields, isWhole: range.length == size, context)
    // A content coding applies to the whole file; its meaning for a range is unclear.
    version.acceptsRanges =
      get.source.sendsWhatIsStored || reply.fields[.contentEncoding].map { $0.lowercased() == "identity" } ?? true
    if facts.isPlanned, facts.layout.count > 1, !version.hasRanges(facts.file.expected) {
      let text = "the server no longer has a strong validator of the file: it is fetched again, in one body"
      return .failed(Failure(.sourceChanged, text), .permanent)
    }
    let broken = answer.brokenOff(of: range.length)
    if let broken, reply.bytesReceived == 0 { return .failed(broken, .retry(isThrottled: false)) }
    let isOfUse = version.hasRanges(facts.file.expected) || reply.bytesReceived == size
    return begun(version, received: isOfUse ? reply.bytesReceived : 0)
  }

  /// 416: the file is empty when its total is 0.
  private func behindTheEnd() -> Interpretation {
    guard get.source.size(behindTheEnd: reply) == 0 else {
      return get.withoutRanges("the server has no beginning of the file", context.learned)
    }
    guard !facts.isPlanned || facts.layout.size == 0 else {
      return .failed(Failure(.sourceChanged, "the remote file changed: it is empty now"), .permanent)
    }
    let version = get.version(size: 0, reply.fields, isWhole: false, context)
    return begun(version, received: 0)
  }

  /// 304: the server still has the version that was fetched before. The next step finds which of its bytes are still
  /// here.
  private func unchanged() -> Interpretation {
    let learned = context.learnedWhenSent ?? context.learned
    guard let past = PastVersion(facts), let condition = PastVersion.condition(facts, context, learned) else {
      return answer.refused()
    }
    if let doubt = past.doubt(in: reply.fields, condition) {
      var learned = context.learned
      learned.misusesConditions = true
      return .failed(Failure(.protoBadReply, doubt), .repair).with(learned: learned)
    }
    let layout = past.download.layout
    return Interpretation(.begun(FileBeginning(layout: layout, received: 0)))
      .with(opened: OpenedSession(remoteID: past.version.name, expiresAtMs: nil)).with(notes: past.version.notes)
      .with(notes: get.notesOfPieces(past.version, received: 0, facts.file.expected, context))
  }

  private func begun(_ version: RemoteVersion, received: Int64) -> Interpretation {
    if let unexpected = unexpected(version) { return unexpected }
    let pieces = facts.file.expected.pieces
    if let pieces, let wrong = context.wrongPieces.first {
      var meaning = Interpretation.failed(
        GetProtocol.wrongPiece(wrong, pieces, version.size), .retry(isThrottled: false))
      meaning.provesWrong = true
      return meaning
    }
    // An incomplete piece cannot be compared, and its rest may come from another place.
    let received =
      pieces.map { min(received == version.size ? received : received / $0.length * $0.length, received) }
      ?? received
    let past = pastLayout(of: version, received: received)
    let asksForParts = past == nil && get.asksForParts(of: version, received: received, facts, context)
    let usual = asksForParts ? ChunkLayout(whole: version.size) : get.layout(of: version, facts.file.expected)
    let layout = facts.isPlanned ? facts.layout : past ?? usual
    let first = layout.range(0).length
    var part: PartReceipt?
    if received == first {
      let digest = context.receivedDigest ?? (first == 0 ? RunningDigest.of([], get.sentDigest) : nil)
      part = PartReceipt(
        seq: 0, length: first, etag: version.etag ?? "", digest: digest,
        confirmation: version.isEndUncertain ? .none : .size)
    }
    return Interpretation(.begun(FileBeginning(layout: layout, received: received, part: part)))
      .with(opened: OpenedSession(remoteID: version.name, expiresAtMs: nil)).with(notes: version.notes)
      .with(notes: asksForParts ? PartNotes.wanted : [:])
      .with(notes: get.notesOfBlocks(version, received: received, facts, context))
      .with(notes: get.notesOfPieces(version, received: received, facts.file.expected, context))
  }

  /// The layout of the version that was fetched before, if the server still has it and its file exists: intact
  /// chunks can be used again.
  private func pastLayout(of version: RemoteVersion, received: Int64) -> ChunkLayout? {
    guard context.holdsPast, let past = PastVersion(facts), past.isSame(as: version) else { return nil }
    let layout = past.download.layout
    let isOfUse = version.hasRanges(facts.file.expected) || layout.count == 1
    return isOfUse && received <= layout.range(0).length ? layout : nil
  }

  /// The length that is known only from the complete answer differs from the expected one.
  private func unexpected(_ version: RemoteVersion) -> Interpretation? {
    let expected = facts.file.expected
    guard let wanted = expected.size, wanted != version.size else { return nil }
    let text = "the file must have \(wanted) bytes, but the received content has \(version.size)"
    return .failed(Failure(expected.isListed ? .sourceChanged : .integrityMismatch, text), .permanent)
  }
}
