public import TransferModel

/// tus 1.0.0 (tus.io/protocols/resumable-upload), with creation, creation-with-upload, expiration, checksum,
/// termination and concatenation if the server announces them.
///
/// A file is sent body by body, each after the answer to the previous one; or, if requested and the server can join
/// uploads, as several concurrent uploads with one chunk each, which are terminated after the joined upload was seen.
/// After any error the server is queried by HEAD, and its offset is authoritative.
///
/// The outcome of the request that joins uploads cannot be queried: if its answer is lost, the file is `unknown`,
/// because repeating it may create the object twice. For the same reason a creation never contains the last byte of a
/// file: if its answer is lost, only an unused upload is left behind.
public struct TusProtocol: TransferProtocol, VaryingAbilities, LatePlanning, PartialBodies, DigestsAhead, AbortTargets,
  RequestEstimate, SessionURLs
{
  let endpoint: WebPlace
  let settings: TusSettings

  static let version = "1.0.0"
  /// Maximum number of bytes sent before the upload has a URL: these are lost with a broken connection.
  static let mostWithCreation: Int64 = 8 << 20
  static let mode = (note: "mode", concatenation: "concat")
  static let finalNote = "final"
  static let bodyNote = "body"
  static let expiryNote = "expires"
  static let pollNote = "polls"

  public let name = "tus"
  public let abilities = ProtocolAbilities(
    parallelChunks: false, resumable: true, needsParts: true)
  public let sentDigest = DigestAlgorithm.crc32c

  public func abilities(_ facts: TransferFacts) -> ProtocolAbilities {
    guard isConcatenated(facts) else {
      var abilities = abilities
      // A body that goes with the creation is sent again to a new upload.
      abilities.queriesChunks = facts.session?.remoteID != nil
      return abilities
    }
    return ProtocolAbilities(
      parallelChunks: true, resumable: true, unrepeatable: [.finish],
      chunkOpening: ChunkOpening(prepares: true, probesUncertain: true),
      leavesUploads: facts.learned.discovered.map { TusFeatures($0).has("termination") } ?? false)
  }

  package func layout(size: Int64) throws(TransferError) -> ChunkLayout { settings.sequentialLayout(size) }

  public var plansLate: Bool { true }

  package func layout(_ facts: TransferFacts) throws(TransferError) -> ChunkLayout {
    isConcatenated(facts) ? settings.parallelLayout(facts.file.size) : settings.sequentialLayout(facts.file.size)
  }

  public var plannedDiscovery: Int { 1 }

  /// Each of the joined uploads is created, filled and terminated; besides there is the request that joins them, and
  /// one that queries the result.
  public func plannedRequests(size: Int64) throws(TransferError) -> Int {
    if size == 0 { return 1 }
    let joined = settings.parallelLayout(size).count
    if settings.isParallel, size > settings.partSize, (2...Int(TusSettings.mostPartials)).contains(joined) {
      return 3 * joined + 2
    }
    let layout = settings.sequentialLayout(size)
    let goesWithCreation =
      settings.checksum == .none && layout.count > 1 && layout.range(0).length <= Self.mostWithCreation
    return layout.count + (goesWithCreation ? 0 : 1)
  }

  public func refusal(ofKey key: NameBytes) -> Failure? { WebPlace.refusal(ofKey: key) }

  public func location(ofKey key: NameBytes) -> String { endpoint.location(key) }

  public var keyPlace: String { KeyPlace.text(endpoint.keyPlace, by: name) }

  package func digestsAhead(_ learned: LearnedFacts, _ layout: ChunkLayout) -> Set<DigestAlgorithm> {
    checksum(learned).map { [$0.algorithm] } ?? []
  }

  /// The checksum for `Upload-Checksum`.
  func checksum(_ learned: LearnedFacts) -> (name: String, algorithm: DigestAlgorithm)? {
    learned.discovered.flatMap { TusFeatures($0).checksum(settings.checksum) }
  }

  /// A body with a checksum is stored completely or not at all, so it is kept short; and a server may have reported
  /// that one is too long.
  package func bodyRange(of chunk: ChunkFacts, _ facts: TransferFacts) -> ByteRange {
    var most = checksum(facts.learned) == nil ? Int64.max : min(settings.partSize, chunk.mostAtOnce ?? .max)
    if let limit = facts.session?.notes[Self.bodyNote].flatMap({ Int64($0) }), limit > 0 { most = min(most, limit) }
    most = min(most, chunk.mostBody ?? .max)
    return ByteRange(offset: chunk.rest.offset, length: min(chunk.rest.length, most))
  }

  /// Whether the file is sent as several uploads that are joined: decided before its session begins, and stored with
  /// it.
  func isConcatenated(_ facts: TransferFacts) -> Bool {
    if let session = facts.session { return session.notes[Self.mode.note] == Self.mode.concatenation }
    guard settings.isParallel, facts.file.size > settings.partSize, let discovered = facts.learned.discovered,
      TusFeatures(discovered).has("concatenation")
    else { return false }
    return !facts.isPlanned || (2...Int(TusSettings.mostPartials)).contains(facts.layout.count)
  }

  // MARK: - Steps

  package func nextStep(_ facts: TransferFacts) -> TransferStep {
    guard let discovered = facts.learned.discovered else { return .control(.discover) }
    let features = TusFeatures(discovered)
    if facts.session == nil, let refusal = features.refusal(size: facts.file.size) { return .fail(refusal) }
    return isConcatenated(facts) ? concatenationStep(facts) : sequentialStep(facts, features)
  }

  private func sequentialStep(_ facts: TransferFacts, _ features: TusFeatures) -> TransferStep {
    if facts.isAllStored {
      let parts = facts.parts
      return .complete(FileProof(confirmation: parts.weakestConfirmation, digest: parts.combinedDigest))
    }
    // A lost answer to a creation leaves an upload without the last byte behind, which does no harm.
    guard let session = facts.session, session.remoteID != nil else { return creation(facts, features) }
    if let expiresAtMs = Self.expiry(session), expiresAtMs <= facts.wallMs {
      return .dropSession(Failure(.protoSessionGone, "the upload expired on the server"))
    }
    let mustAsk = facts.isPlanned && !facts.isProbed && (facts.isResumed || facts.lostAnswer != nil)
    return mustAsk ? .control(.probe(marker: nil)) : .chunks
  }

  /// The first body is sent with the creation if the server supports that and the body is short; not if bodies have
  /// checksums, because the body of a creation may not be verified.
  private func creation(_ facts: TransferFacts, _ features: TusFeatures) -> TransferStep {
    let first = facts.isPlanned ? facts.layout.range(0).length : min(settings.partSize, facts.file.size)
    let isShortPart = first < facts.file.size && first <= Self.mostWithCreation
    guard features.has("creation-with-upload"), isShortPart, features.checksum(settings.checksum) == nil else {
      return .control(.create)
    }
    return .chunkThatOpensSession
  }

  private func concatenationStep(_ facts: TransferFacts) -> TransferStep {
    guard let session = facts.session else {
      // Of this session only: the uploads of an earlier one are still to be ended.
      let name = "concat:\(facts.file.uid)-\(facts.wallMs)"
      return .openSession(remoteID: name, notes: [Self.mode.note: Self.mode.concatenation])
    }
    guard facts.isAllStored else { return .chunks }
    return .control(session.notes[Self.finalNote] == nil ? .finish : .verify)
  }

  /// Milliseconds since 1970 UTC; the latest value from the server.
  static func expiry(_ session: SessionFacts) -> Int64? {
    session.notes[expiryNote].flatMap { Int64($0) } ?? session.expiresAtMs
  }

  /// Also that of each upload that will be joined.
  package func uploadName(_ meaning: Interpretation, to step: StepRequest, _ facts: TransferFacts) -> UploadName? {
    if case .prepareChunk(let chunk) = step, case .chunkPrepared(let remote) = meaning.outcome {
      return remote["url"].map { UploadName($0, .everywhere, chunk: chunk.seq) }
    }
    guard facts.session?.remoteID == nil else { return nil }
    return meaning.opened.map { UploadName($0.remoteID, .everywhere) }
  }

  public func abortTargets(_ facts: TransferFacts) -> [String] {
    guard let session = facts.session else { return [] }
    guard session.notes[Self.mode.note] == Self.mode.concatenation else { return session.remoteID.map { [$0] } ?? [] }
    // A server may give the joined upload the URL of a part.
    return facts.parts.compactMap { $0.remote["url"] }.filter { $0 != session.notes[Self.finalNote] }
  }
}
