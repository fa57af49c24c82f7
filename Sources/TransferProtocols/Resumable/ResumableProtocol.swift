public import TransferModel

/// Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload), drafts of interop versions 3 to 9 and the RFC to
/// come.
///
/// A server is asked by OPTIONS whether it speaks it. Where it does, small files are one request that makes the upload
/// and completes it; for large ones the upload is made first and then appended to, body by body. Where it does not,
/// each file is one plain request, which an answer of 104 may make resumable while it runs. After anything that went
/// wrong the server is asked by HEAD, and its offset is the truth.
public struct ResumableProtocol: TransferProtocol, VaryingAbilities, LatePlanning, InterimAnswers, PartialBodies,
  DigestsAhead,
  WholeFileDigests, RequestEstimate
{
  let place: WebPlace
  let settings: ResumableSettings

  /// Bytes that may be sent before the upload has a URL: what is lost with a broken connection.
  static let mostWithCreation: Int64 = 8 << 20
  static let mostChunks: Int64 = 10_000
  static let bodyNote = "body"
  static let appendNote = "max-append"
  static let expiryNote = "expires"
  /// HEAD said that there is a final answer.
  static let endedNote = "ended"
  /// In the receipt of a chunk: the answer to it ended the upload.
  static let completeKey = "complete"

  public let name = "resumable"
  public let abilities = ProtocolAbilities(
    parallelChunks: false, resumable: true, needsParts: true)
  public let sentDigest = DigestAlgorithm.crc32c

  /// A POST that lost its answer before the upload had a URL may have made an object.
  public func abilities(_ facts: TransferFacts) -> ProtocolAbilities {
    var abilities = abilities
    let isMade = facts.session?.remoteID != nil
    if settings.isPost && !isMade && opensWithBody(facts) { abilities.unrepeatable = [.part] }
    return abilities
  }

  func discovery(_ learned: LearnedFacts) -> Discovery { Discovery(learned.discovered, settings) }

  public var plannedDiscovery: Int { 1 }

  /// What is small makes its upload and completes it in one request.
  public func plannedRequests(size: Int64) throws(TransferError) -> Int {
    let isOne = size == 0 || !settings.isPost && size <= min(Self.mostWithCreation, settings.partSize)
    return isOne ? 1 : 1 + layout(size, settings.partSize).count
  }

  public func refusal(ofKey key: NameBytes) -> Failure? { WebPlace.refusal(ofKey: key) }

  public func location(ofKey key: NameBytes) -> String { place.location(key) }

  public var keyPlace: String { place.keyPlace }

  public func digestsAhead(_ learned: LearnedFacts, _ layout: ChunkLayout) -> Set<DigestAlgorithm> {
    settings.sendsDigests ? [.sha256] : []
  }

  public func fileDigests(for step: StepRequest, _ facts: TransferFacts) -> Set<DigestAlgorithm> {
    guard settings.sendsDigests else { return [] }
    switch step {
    case .create, .finish: return [.sha256]
    case .chunk(let chunk): return chunk.body.end == facts.file.size && chunk.body.offset > 0 ? [.sha256] : []
    case .probe, .prepareChunk, .probeChunk, .discover, .save, .verify, .abort, .makeParent: return []
    }
  }

  // MARK: - Sizes

  public func layout(size: Int64) throws(TransferError) -> ChunkLayout { layout(size, settings.partSize) }

  public var plansLate: Bool { true }

  /// A chunk is a body. Where bodies have a least length, or are so short that there would be too many chunks, one
  /// chunk holds the file and ``bodyRange(of:_:)`` cuts it: then any piece may follow any other.
  public func layout(_ facts: TransferFacts) throws(TransferError) -> ChunkLayout {
    let limits = discovery(facts.learned).limits
    guard !opensWithBody(facts), (limits.minAppend ?? 0) == 0 else { return ChunkLayout(whole: facts.file.size) }
    return layout(facts.file.size, min(settings.partSize, max(1, limits.maxAppend ?? .max)))
  }

  private func layout(_ size: Int64, _ part: Int64) -> ChunkLayout {
    guard size > part, (size - 1) / part < Self.mostChunks else { return ChunkLayout(whole: size) }
    return ChunkLayout(size: size, chunkSize: part)
  }

  public func bodyRange(of chunk: ChunkFacts, _ facts: TransferFacts) -> ByteRange {
    // The request that makes the upload completes it.
    guard let session = facts.session, session.remoteID != nil else { return chunk.rest }
    let discovery = discovery(facts.learned)
    var most = session.notes[Self.appendNote].flatMap { Int64($0) } ?? discovery.limits.maxAppend ?? .max
    most = min(most, session.notes[Self.bodyNote].flatMap { Int64($0) } ?? .max)
    most = min(most, chunk.mostBody.map { max($0, discovery.limits.minAppend ?? 0) } ?? .max)
    if discovery.isSpoken { most = min(most, max(settings.partSize, discovery.limits.minAppend ?? 0)) }
    return ByteRange(offset: chunk.rest.offset, length: min(chunk.rest.length, max(1, most)))
  }

  /// Whether the request that makes the upload brings the whole file: at servers that are not known to speak this there
  /// is no other way, and for small files none is shorter. A POST that is repeated might make two objects, so it brings
  /// nothing where it need not.
  func opensWithBody(_ facts: TransferFacts) -> Bool {
    let discovery = discovery(facts.learned)
    let size = facts.file.size
    guard discovery.isSpoken, size > 0, size >= discovery.limits.minSize ?? 0 else { return true }
    let isSmall = size <= min(Self.mostWithCreation, settings.partSize, discovery.limits.maxAppend ?? .max)
    return isSmall && !settings.isPost && (!facts.isPlanned || facts.layout.count == 1)
  }

  // MARK: - Steps

  public func nextStep(_ facts: TransferFacts) -> TransferStep {
    let discovery = discovery(facts.learned)
    if case .unasked = discovery.finding { return .control(.discover) }
    if facts.session == nil, let refusal = discovery.limits.refusal(size: facts.file.size) { return .fail(refusal) }
    if isEnded(facts) { return end(facts) }
    // A lost answer to an empty creation leaves an upload without bytes behind, which nobody sees.
    guard let session = facts.session, session.remoteID != nil else { return creation(facts) }
    if !facts.isAllStored, let expiresAtMs = expiry(session), expiresAtMs <= facts.wallMs {
      return .dropSession(Failure(.protoSessionGone, "the upload expired at the server"))
    }
    let mustAsk = facts.isPlanned && !facts.isProbed && (facts.isResumed || facts.lostAnswer != nil)
    if mustAsk { return .control(.probe(marker: nil)) }
    return facts.isAllStored ? .control(.finish) : .chunks
  }

  private func creation(_ facts: TransferFacts) -> TransferStep {
    guard opensWithBody(facts) else { return .control(.create) }
    // Such a request completes the object: one chunk of several must never go with it.
    guard !facts.isPlanned || facts.layout.count == 1 else {
      return .fail(
        Failure(.protoUnsupported, "the file is cut for resumable uploads, and the server does not speak them any more")
      )
    }
    return .chunkThatOpensSession
  }

  /// Everything is there, and the answer to the last body ended the upload.
  private func isEnded(_ facts: TransferFacts) -> Bool {
    facts.isAllStored && facts.parts.last?.remote[Self.completeKey] != nil
  }

  private func end(_ facts: TransferFacts) -> TransferStep {
    let parts = facts.parts
    let whole = parts.combinedDigest
    let last = parts.last?.remote ?? [:]
    let reported = last["crc32c"].flatMap { Digest(text: $0) }
    if let whole, let reported, whole != reported {
      let failure = Failure(.integrityMismatch, "the server stored \(reported), and we sent \(whole)")
      return settings.isPost ? .fail(failure) : .dropSession(failure)
    }
    let isProved = whole != nil && reported != nil
    return .complete(
      FileProof(
        confirmation: isProved ? .digest : parts.weakestConfirmation, digest: whole, remoteDigest: reported,
        etag: last["etag"] ?? "", requestID: last["request"] ?? "", serverDate: last["date"] ?? ""))
  }

  func expiry(_ session: SessionFacts) -> Int64? {
    session.notes[Self.expiryNote].flatMap { Int64($0) } ?? session.expiresAtMs
  }
}
