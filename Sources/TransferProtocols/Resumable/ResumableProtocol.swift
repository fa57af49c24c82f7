public import TransferModel

/// Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload), drafts of interop versions 3 to 9 and the future
/// RFC.
///
/// OPTIONS queries whether a server supports it. If it does, one request creates and completes the upload of a small
/// file; for a large file the upload is created first and then appended to, body by body. If it does not, each file is
/// one plain request, which a 104 answer may make resumable while it runs. After any error the server is queried by
/// HEAD, and its offset is authoritative.
public struct ResumableProtocol: TransferProtocol, VaryingAbilities, LatePlanning, InterimAnswers, PartialBodies,
  DigestsAhead,
  WholeFileDigests, RequestEstimate, SessionURLs
{
  let place: WebPlace
  let settings: ResumableSettings

  /// Maximum number of bytes sent before the upload has a URL: these are lost with a broken connection.
  static let mostWithCreation: Int64 = 8 << 20
  static let mostChunks: Int64 = 10_000
  static let bodyNote = "body"
  static let appendNote = "max-append"
  static let expiryNote = "expires"
  /// HEAD showed that there is a final answer.
  static let endedNote = "ended"
  /// In the receipt of a chunk: its answer completed the upload.
  static let completeKey = "complete"

  public let name = "resumable"
  public let abilities = ProtocolAbilities(
    parallelChunks: false, resumable: true, needsParts: true)
  public let sentDigest = DigestAlgorithm.crc32c

  /// A POST whose answer was lost before the upload had a URL may have created an object.
  public func abilities(_ facts: TransferFacts) -> ProtocolAbilities {
    var abilities = abilities
    let isMade = facts.session?.remoteID != nil
    // A body that opens the upload is sent again to a new one.
    abilities.queriesChunks = isMade
    if settings.isPost && !isMade && opensWithBody(facts) { abilities.unrepeatable = [.part] }
    return abilities
  }

  func discovery(_ learned: LearnedFacts) -> Discovery { Discovery(learned.discovered, settings) }

  public var plannedDiscovery: Int { 1 }

  /// One request creates and completes the upload of a small file.
  public func plannedRequests(size: Int64) throws(TransferError) -> Int {
    let isOne = size == 0 || !settings.isPost && size <= min(Self.mostWithCreation, settings.partSize)
    return isOne ? 1 : 1 + layout(size, settings.partSize).count
  }

  public func refusal(ofKey key: NameBytes) -> Failure? { WebPlace.refusal(ofKey: key) }

  public func location(ofKey key: NameBytes) -> String { place.location(key) }

  public var keyPlace: String { settings.isPost ? KeyPlace.text(place.keyPlace, by: name) : place.keyPlace }

  package var objectPlace: ObjectPlace? { settings.isPost ? nil : place.objectPlace }

  package func digestsAhead(_ learned: LearnedFacts, _ layout: ChunkLayout) -> Set<DigestAlgorithm> {
    settings.sendsDigests ? [.sha256] : []
  }

  package func fileDigests(for step: StepRequest, _ facts: TransferFacts) -> Set<DigestAlgorithm> {
    guard settings.sendsDigests else { return [] }
    switch step {
    case .create, .finish: return [.sha256]
    case .chunk(let chunk): return chunk.body.end == facts.file.size && chunk.body.offset > 0 ? [.sha256] : []
    case .probe, .prepareChunk, .probeChunk, .discover, .save, .verify, .abort, .makeParent: return []
    }
  }

  // MARK: - Sizes

  package func layout(size: Int64) throws(TransferError) -> ChunkLayout { layout(size, settings.partSize) }

  public var plansLate: Bool { true }

  /// A chunk is a body. If bodies have a minimum length, or are so short that there would be too many chunks, one chunk
  /// contains the file and ``bodyRange(of:_:)`` divides it: bodies of any length can then follow each other.
  package func layout(_ facts: TransferFacts) throws(TransferError) -> ChunkLayout {
    let limits = discovery(facts.learned).limits
    guard !opensWithBody(facts), (limits.minAppend ?? 0) == 0 else { return ChunkLayout(whole: facts.file.size) }
    return layout(facts.file.size, min(settings.partSize, max(1, limits.maxAppend ?? .max)))
  }

  private func layout(_ size: Int64, _ part: Int64) -> ChunkLayout {
    guard size > part, (size - 1) / part < Self.mostChunks else { return ChunkLayout(whole: size) }
    return ChunkLayout(size: size, chunkSize: part)
  }

  package func bodyRange(of chunk: ChunkFacts, _ facts: TransferFacts) -> ByteRange {
    // The request that creates the upload also completes it.
    guard let session = facts.session, session.remoteID != nil else { return chunk.rest }
    let discovery = discovery(facts.learned)
    var most = session.notes[Self.appendNote].flatMap { Int64($0) } ?? discovery.limits.maxAppend ?? .max
    most = min(most, session.notes[Self.bodyNote].flatMap { Int64($0) } ?? .max)
    most = min(most, chunk.mostBody.map { max($0, discovery.limits.minAppend ?? 0) } ?? .max)
    if discovery.isSpoken { most = min(most, max(settings.partSize, discovery.limits.minAppend ?? 0)) }
    return ByteRange(offset: chunk.rest.offset, length: min(chunk.rest.length, max(1, most)))
  }

  /// Whether the request that creates the upload contains the whole file. For servers that are not known to support
  /// resumable uploads there is no other way, and for small files nothing is shorter. A repeated POST might create two
  /// objects, so it has no body unless necessary.
  func opensWithBody(_ facts: TransferFacts) -> Bool {
    let discovery = discovery(facts.learned)
    let size = facts.file.size
    guard discovery.isSpoken, size > 0, size >= discovery.limits.minSize ?? 0 else { return true }
    let isSmall = size <= min(Self.mostWithCreation, settings.partSize, discovery.limits.maxAppend ?? .max)
    return isSmall && !settings.isPost && (!facts.isPlanned || facts.layout.count == 1)
  }

  // MARK: - Steps

  package func nextStep(_ facts: TransferFacts) -> TransferStep {
    let discovery = discovery(facts.learned)
    if case .unasked = discovery.finding { return .control(.discover) }
    if facts.session == nil, let refusal = discovery.limits.refusal(size: facts.file.size) { return .fail(refusal) }
    if isEnded(facts) { return end(facts) }
    // A lost answer to an empty creation leaves an empty upload behind, which does no harm.
    guard let session = facts.session, session.remoteID != nil else { return creation(facts) }
    if !facts.isAllStored, let expiresAtMs = expiry(session), expiresAtMs <= facts.wallMs {
      return .dropSession(Failure(.protoSessionGone, "the upload expired on the server"))
    }
    let most = session.notes[Self.appendNote].flatMap { Int64($0) }
    if !facts.isAllStored, let refusal = most.flatMap({ UploadLimit.refusal(size: facts.file.size, bodies: $0) }) {
      return .fail(refusal)
    }
    let mustAsk = facts.isPlanned && !facts.isProbed && (facts.isResumed || facts.lostAnswer != nil)
    if mustAsk { return .control(.probe(marker: nil)) }
    return facts.isAllStored ? .control(.finish) : .chunks
  }

  private func creation(_ facts: TransferFacts) -> TransferStep {
    guard opensWithBody(facts) else { return .control(.create) }
    // Such a request completes the object, so it must never be used for one of several chunks.
    guard !facts.isPlanned || facts.layout.count == 1 else {
      return .fail(
        Failure(.protoUnsupported, "the file is divided for resumable uploads, which the server no longer supports")
      )
    }
    return .chunkThatOpensSession
  }

  /// Whether everything is stored, and the answer to the last body completed the upload.
  private func isEnded(_ facts: TransferFacts) -> Bool {
    facts.isAllStored && facts.parts.last?.remote[Self.completeKey] != nil
  }

  private func end(_ facts: TransferFacts) -> TransferStep {
    let parts = facts.parts
    let whole = parts.combinedDigest
    let last = parts.last?.remote ?? [:]
    let reported = last["crc32c"].flatMap { Digest(text: $0) }
    if let whole, let reported, whole != reported {
      let failure = Failure(.integrityMismatch, "the server stored \(reported), but we sent \(whole)")
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
