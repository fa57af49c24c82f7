public import TransferModel

/// tus 1.0.0 (tus.io/protocols/resumable-upload), with creation, creation-with-upload, expiration, checksum,
/// termination and concatenation where the server announces them.
///
/// A file is sent body by body, each after the answer to the one before; or, when it is asked for and the server can
/// join uploads, as several uploads side by side, each with one chunk, which are ended once the whole was seen. After
/// anything that went wrong the server is asked by HEAD, and its offset is the truth.
///
/// The request that joins uploads is the one that cannot be asked about: when its answer is lost the file is `unknown`,
/// because sending it again may make the object twice. For the same reason a creation never brings the last byte of a
/// file: lost, it leaves an upload behind that nobody sees.
public struct TusProtocol: TransferProtocol, VaryingAbilities, LatePlanning, PartialBodies, DigestsAhead, AbortTargets,
  RequestEstimate
{
  let endpoint: WebPlace
  let settings: TusSettings

  static let version = "1.0.0"
  /// Bytes that may be sent before the upload has a URL: what is lost with a broken connection.
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
    guard isConcatenated(facts) else { return abilities }
    return ProtocolAbilities(
      parallelChunks: true, resumable: true, unrepeatable: [.finish],
      chunkOpening: ChunkOpening(prepares: true, probesUncertain: true),
      leavesUploads: facts.learned.discovered.map { TusFeatures($0).has("termination") } ?? false)
  }

  public func layout(size: Int64) throws(TransferError) -> ChunkLayout { settings.sequentialLayout(size) }

  public var plansLate: Bool { true }

  public func layout(_ facts: TransferFacts) throws(TransferError) -> ChunkLayout {
    isConcatenated(facts) ? settings.parallelLayout(facts.file.size) : settings.sequentialLayout(facts.file.size)
  }

  public var plannedDiscovery: Int { 1 }

  /// Each of the uploads that are joined is created, and ended when it is joined; then there is the request that joins
  /// them, and one that looks at the whole.
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

  public var keyPlace: String { endpoint.keyPlace }

  public func digestsAhead(_ learned: LearnedFacts, _ layout: ChunkLayout) -> Set<DigestAlgorithm> {
    checksum(learned).map { [$0.algorithm] } ?? []
  }

  /// What goes into `Upload-Checksum`.
  func checksum(_ learned: LearnedFacts) -> (name: String, algorithm: DigestAlgorithm)? {
    learned.discovered.flatMap { TusFeatures($0).checksum(settings.checksum) }
  }

  /// A body that is checked is stored whole or not at all, so it is kept short; and a server may have said that one is
  /// too long.
  public func bodyRange(of chunk: ChunkFacts, _ facts: TransferFacts) -> ByteRange {
    var most = checksum(facts.learned) == nil ? Int64.max : min(settings.partSize, chunk.mostAtOnce ?? .max)
    if let limit = facts.session?.notes[Self.bodyNote].flatMap({ Int64($0) }), limit > 0 { most = min(most, limit) }
    most = min(most, chunk.mostBody ?? .max)
    return ByteRange(offset: chunk.rest.offset, length: min(chunk.rest.length, most))
  }

  /// Whether the file goes as several uploads that are joined: decided before its session begins, and kept with it.
  func isConcatenated(_ facts: TransferFacts) -> Bool {
    if let session = facts.session { return session.notes[Self.mode.note] == Self.mode.concatenation }
    guard settings.isParallel, facts.file.size > settings.partSize, let discovered = facts.learned.discovered,
      TusFeatures(discovered).has("concatenation")
    else { return false }
    return !facts.isPlanned || (2...Int(TusSettings.mostPartials)).contains(facts.layout.count)
  }

  // MARK: - Steps

  public func nextStep(_ facts: TransferFacts) -> TransferStep {
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
    // A lost answer to creation leaves an upload without bytes behind, which nobody sees.
    guard let session = facts.session, session.remoteID != nil else { return creation(facts, features) }
    if let expiresAtMs = Self.expiry(session), expiresAtMs <= facts.wallMs {
      return .dropSession(Failure(.protoSessionGone, "the upload expired at the server"))
    }
    let mustAsk = facts.isPlanned && !facts.isProbed && (facts.isResumed || facts.lostAnswer != nil)
    return mustAsk ? .control(.probe(marker: nil)) : .chunks
  }

  /// The first body goes with the creation where the server takes it and it is short; not where bodies are checked:
  /// what comes with a creation may not be.
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
      return .openSession(remoteID: "concat:\(facts.file.uid)", notes: [Self.mode.note: Self.mode.concatenation])
    }
    guard facts.isAllStored else { return .chunks }
    return .control(session.notes[Self.finalNote] == nil ? .finish : .verify)
  }

  /// Milliseconds since 1970 UTC; the last that the server said.
  static func expiry(_ session: SessionFacts) -> Int64? {
    session.notes[expiryNote].flatMap { Int64($0) } ?? session.expiresAtMs
  }

  public func abortTargets(_ facts: TransferFacts) -> [String] {
    guard let session = facts.session else { return [] }
    guard session.notes[Self.mode.note] == Self.mode.concatenation else { return session.remoteID.map { [$0] } ?? [] }
    return facts.parts.compactMap { $0.remote["url"] }
  }
}
