public import TransferModel

/// A protocol with its optional abilities, looked up once, and the defaults for those it does not have.
public struct ProtocolInUse: Sendable {
  package let base: any TransferProtocol
  private let varying: (any VaryingAbilities)?
  private let latePlanning: (any LatePlanning)?
  private let interim: (any InterimAnswers)?
  private let partialBodies: (any PartialBodies)?
  /// nil if files have only one place.
  package let places: (any SeveralPlaces)?
  private let shortChunks: (any ShortChunks)?
  /// nil for an upload.
  package let bodiesInAnswers: (any BodiesInAnswers)?
  private let tables: (any PublishedTables)?
  private let ahead: (any DigestsAhead)?
  private let wholeFile: (any WholeFileDigests)?
  private let listing: (any ListingProof)?
  private let aborts: (any AbortTargets)?
  private let estimate: (any RequestEstimate)?
  private let named: (any NamedUploads)?
  /// nil if no collections are created.
  package let parents: (any ParentCollections)?
  /// nil if done files cannot be queried.
  package let laterQuestions: (any LaterQuestions)?
  public let findsUnlistedUploads: Bool
  public let plansLate: Bool
  public var hearsInterim: Bool { interim != nil }

  package init(_ base: any TransferProtocol) {
    self.base = base
    varying = base as? any VaryingAbilities
    latePlanning = base as? any LatePlanning
    interim = base as? any InterimAnswers
    partialBodies = base as? any PartialBodies
    places = base as? any SeveralPlaces
    shortChunks = base as? any ShortChunks
    bodiesInAnswers = base as? any BodiesInAnswers
    tables = base as? any PublishedTables
    ahead = base as? any DigestsAhead
    wholeFile = base as? any WholeFileDigests
    listing = base as? any ListingProof
    aborts = base as? any AbortTargets
    estimate = base as? any RequestEstimate
    named = base as? any NamedUploads
    let collections = base as? any ParentCollections
    parents = collections?.makesParents == true ? collections : nil
    laterQuestions = base as? any LaterQuestions
    findsUnlistedUploads = base is any UnlistedUploadListing
    plansLate = latePlanning?.plansLate ?? false
  }
}

/// Methods of every protocol.
extension ProtocolInUse {
  public var name: String { base.name }
  public var abilities: ProtocolAbilities { base.abilities }
  public var sentDigest: DigestAlgorithm { base.sentDigest }

  package func layout(size: Int64) throws(TransferError) -> ChunkLayout { try base.layout(size: size) }

  /// The largest size of a file that is sent in one body, which can neither be continued nor be shorter; nil if there
  /// is none, or if that is not known before the file is begun.
  public var largestWhole: Int64? {
    guard bodiesInAnswers == nil, latePlanning == nil, partialBodies == nil else { return nil }
    var (low, high): (Int64, Int64) = (0, 1 << 50)
    while low < high {
      let middle = high - (high - low) / 2
      if (try? base.layout(size: middle))?.count == 1 { low = middle } else { high = middle - 1 }
    }
    return low > 0 ? low : nil
  }

  public func refusal(ofKey key: NameBytes) -> Failure? { base.refusal(ofKey: key) }

  public func location(ofKey key: NameBytes) -> String { base.location(ofKey: key) }

  /// The place of a batch with this reference to a credential; `auth` is nil for none.
  public func keyPlace(auth: String?) -> String { auth.map { KeyPlace.text(base.keyPlace, auth: $0) } ?? base.keyPlace }

  package var objectPlace: ObjectPlace? { base.objectPlace }

  package func nextStep(_ facts: TransferFacts) -> TransferStep { base.nextStep(facts) }

  package func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest { try base.request(step, facts, context) }

  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    let meaning = base.interpret(reply, to: step, facts, context)
    let believed = facts.believed(meaning, to: step, abilities(facts), failures: context.failures)
    return weighed(believed, to: step, facts, context)
  }

  /// The adjusted meaning of an answer that was interpreted without the protocol.
  package func weighed(
    _ meaning: Interpretation, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation { places?.weighed(meaning, to: step, facts, context) ?? meaning }
}

/// Optional abilities.
extension ProtocolInUse {
  public func abilities(_ facts: TransferFacts) -> ProtocolAbilities { varying?.abilities(facts) ?? base.abilities }

  package func layout(_ facts: TransferFacts) throws(TransferError) -> ChunkLayout {
    guard let latePlanning else { return try base.layout(size: facts.file.size) }
    return try latePlanning.layout(facts)
  }

  package func interpretInterim(
    _ reply: InterimReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> OpenedSession? { interim?.interpretInterim(reply, to: step, facts, context) }

  package func uploadName(_ meaning: Interpretation, to step: StepRequest, _ facts: TransferFacts) -> UploadName? {
    named?.uploadName(meaning, to: step, facts)
  }

  package func bodyRange(of chunk: ChunkFacts, _ facts: TransferFacts) -> ByteRange {
    partialBodies?.bodyRange(of: chunk, facts) ?? chunk.rest
  }

  package func layoutOfShortChunks(size: Int64) throws(TransferError) -> ChunkLayout {
    guard let shortChunks else { return try base.layout(size: size) }
    return try shortChunks.layoutOfShortChunks(size: size)
  }

  package func longestTable(in step: StepRequest, _ facts: TransferFacts) -> Int64? {
    tables?.longestTable(in: step, facts)
  }

  package func digestsAhead(_ learned: LearnedFacts, _ layout: ChunkLayout) -> Set<DigestAlgorithm> {
    ahead?.digestsAhead(learned, layout) ?? []
  }

  package func fileDigests(for step: StepRequest, _ facts: TransferFacts) -> Set<DigestAlgorithm> {
    wholeFile?.fileDigests(for: step, facts) ?? []
  }

  public var digestsOfListing: Set<DigestAlgorithm> { listing?.digestsOfListing ?? [] }

  package func receipt(of chunk: ChunkFacts, in listed: ListedPart) -> PartReceipt? {
    listing?.receipt(of: chunk, in: listed)
  }

  /// By default the session's ID. Never the URL of the object, or that at which uploads are created, even if the server
  /// named an upload so: its abort would remove what an earlier upload has stored.
  public func abortTargets(_ facts: TransferFacts) -> [String] {
    let targets = aborts?.abortTargets(facts) ?? facts.session?.remoteID.map { [$0] } ?? []
    // A location may end with the name of the file for people.
    let own = base.location(ofKey: facts.file.key).prefix { $0 != "#" }
    let withoutQuery = own.prefix { $0 != "?" }
    return targets.filter { $0 != own && $0 != withoutQuery }
  }

  /// By default one for each chunk.
  public func plannedRequests(size: Int64) throws(TransferError) -> Int {
    guard let estimate else { return try base.layout(size: size).count }
    return try estimate.plannedRequests(size: size)
  }

  public var plannedDiscovery: Int { estimate?.plannedDiscovery ?? 0 }
}
