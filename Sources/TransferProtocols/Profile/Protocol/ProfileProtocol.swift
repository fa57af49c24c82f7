public import TransferModel

/// An upload protocol that a profile describes.
///
/// | step of the profile | step of the engine |
/// |---|---|
/// | `init` | `create`; without one the session is ours, and its id is a UUID |
/// | `probe`, `probe_chunk`, `prepare_chunk` | `probe`, `probeChunk` after a lost answer, `prepareChunk` before the body |
/// | `chunk` | `chunk` |
/// | `complete`, or `commit` when there is none | `finish` |
/// | `commit` behind `complete` | `save` |
/// | `verify` | `verify`: after a lost answer to the last steps, and when they are done, for the receipt |
/// | `abort` | `abort` |
/// | `auth.refresh` | `discover` |
///
/// Values of the session and results are notes of the session row, values of a part belong to its chunk row; both are
/// committed with the answer that contained them. Secrets come with the credential and are not stored.
public struct ProfileProtocol: TransferProtocol, VaryingAbilities, LatePlanning, DigestsAhead, WholeFileDigests,
  AbortTargets, NamedUploads,
  RequestEstimate
{
  let profile: Profile
  /// The literal inputs, by name; `url` is the destination, without a trailing slash and without ``query``.
  let inputs: [String: String]
  /// The query of the destination: sent with every relative URL.
  let query: String
  /// References of the inputs that are not in ``inputs``, by name: `env:NAME`. Never their values.
  let references: [String: String]
  /// Bytes, as the user requested.
  let partSize: Int64?
  let origin: WebOrigin
  let reach: ProfileReach
  /// Digests of chunks that the last steps use.
  let partHashes: [ProfileHash]

  public static let name = "profile"
  public var name: String { Self.name }
  /// The cheap algorithm, combinable over chunks, that appears most often in answers.
  public let sentDigest = DigestAlgorithm.crc32c

  public init(
    profile: Profile, url: String, inputs: [String: String], references: [String: String] = [:], partSize: Int64?,
    reach: ProfileReach = ProfileReach()
  ) throws(TransferError) {
    guard let origin = WebOrigin(url: url) else {
      throw TransferError(
        .usage, "read destination", cause: "a profile needs an http or https URL",
        remedy: "see \"transfers help profiles\"")
    }
    self.profile = profile
    let query = url.firstIndex(of: "?")
    var place = String(query.map { url[..<$0] } ?? url[...])
    while place.hasSuffix("/") { place.removeLast() }
    self.query = query.map { String(url[url.index(after: $0)...]) } ?? ""
    self.inputs = inputs.merging(["url": place]) { $1 }
    self.references = references
    self.partSize = partSize
    self.origin = origin
    self.reach = reach
    partHashes = ProfileDigests(profile: profile).ofParts
    _ = try layout(size: max(profile.file.minSize, 0))
  }

  /// The protocol of a batch, from its frozen settings.
  /// - Throws: `.config` for an invalid profile, `.usage` for settings that do not fit it.
  public init(_ settings: BatchSettings) throws(TransferError) {
    guard let frozen = settings.profile else {
      throw TransferError(.bug, "read the profile of a batch", cause: "it has none")
    }
    let profile: Profile
    do throws(ProfileFaults) {
      profile = try Profile.read(Array(frozen.text.utf8), file: frozen.name)
    } catch {
      throw error.transferError
    }
    if settings.ifNoneMatch || settings.auth != nil || settings.expectContinue {
      throw TransferError(
        .usage, "use the profile", NameBytes(frozen.name),
        cause: "--if-none-match, --auth and --expect-continue do not apply to profiles",
        remedy: "a profile defines its requests; give it secrets with --input")
    }
    try self.init(
      profile: profile, url: settings.destination,
      inputs: try ProfileInputs(profile: profile, frozen: frozen).literals(),
      references: frozen.secrets, partSize: settings.partSize,
      reach: ProfileReach(
        allowed: try AllowedHosts(settings.allowedHosts ?? []), isBuiltin: frozen.isBuiltin ?? false,
        referenced: Set(frozen.secrets.keys)))
    try trust.refuseForeignHosts()
  }

  var values: ProfileValues { ProfileValues(profile: profile, inputs: inputs, query: query) }
  var trust: ProfileTrust { ProfileTrust(profile: profile, inputs: inputs, origin: origin, reach: reach) }

  public var abilities: ProtocolAbilities {
    let chunk = profile.chunk
    return ProtocolAbilities(
      parallelChunks: chunk.mode == .parallel, mostParallel: chunk.mode == .parallel ? chunk.parallel : nil,
      resumable: chunk.mode != .single, unrepeatable: unrepeatable,
      chunkOpening: ChunkOpening(
        prepares: profile.step(.prepareChunk) != nil, probesUncertain: profile.step(.probeChunk) != nil),
      // If a step follows the chunks, its answer brings the receipts.
      needsParts: finishName == nil, verifiesContent: profile.verifiesContent,
      // A harmless repetition is not preceded by a query about the whole session.
      queriesChunks: isAlways(.probeChunk) || (!profile.chunk.isIdempotent && canAskAboutChunks))
  }

  /// A query about the progress of a last step can be repeated, whatever the step itself is.
  public func abilities(_ facts: TransferFacts) -> ProtocolAbilities {
    var abilities = abilities
    let progress = ProfileProgress(self, facts)
    let (prepares, probes) = (progress.wants(.prepareChunk), progress.wants(.probeChunk))
    abilities.chunkOpening = ChunkOpening(prepares: prepares, probesUncertain: probes)
    guard facts.isAllStored, !abilities.unrepeatable.isEmpty, facts.session != nil else { return abilities }
    if let name = finishName, progress.isQuestion(name) { abilities.unrepeatable.remove(.finish) }
    if let name = saveName, progress.isQuestion(name) { abilities.unrepeatable.remove(.save) }
    return abilities
  }

  public var plansLate: Bool {
    if case .session = profile.chunk.size { true } else { false }
  }

  /// Operations that cannot be queried, and whose repetition the profile does not declare harmless.
  var unrepeatable: Set<AttemptOperation> {
    var operations: Set<AttemptOperation> = []
    if !profile.chunk.isIdempotent && !canAskAboutChunks { operations.insert(.part) }
    if let name = finishName, !isRepeatable(name) { operations.insert(.finish) }
    if let name = saveName, !isRepeatable(name) { operations.insert(.save) }
    return operations
  }

  /// Steps of the profile whose lost answer leaves a file unknown.
  public var unrepeatableSteps: [String] {
    let names: [(AttemptOperation, StepName?)] = [(.part, .chunk), (.finish, finishName), (.save, saveName)]
    return names.compactMap { unrepeatable.contains($0.0) ? $0.1?.rawValue : nil }
  }

  /// Whether the server can be queried conclusively about a chunk whose answer was lost.
  var canAskAboutChunks: Bool {
    isAlways(.probeChunk) || (profile.chunk.mode == .sequential && isAlways(.probe))
  }

  func isRepeatable(_ name: StepName) -> Bool { profile.step(name)?.isIdempotent ?? true || canAskAboutEnd(name) }

  /// Whether the server can be queried whether the upload is complete. An upload that a probe finds complete may not be
  /// saved yet.
  func canAskAboutEnd(_ name: StepName) -> Bool {
    if isAlways(.verify) { return true }
    return name == finishName && isAlways(.probe) && profile.step(.probe)?.have.done != nil
  }

  /// Whether the step is performed for every file: a query that may be skipped is not relied on.
  func isAlways(_ name: StepName) -> Bool { profile.step(name).map { $0.when == nil } ?? false }

  /// The step that completes the upload, and the one after it.
  var finishName: StepName? { lastNames.first }
  var saveName: StepName? { lastNames.dropFirst().first }
  private var lastNames: [StepName] { [.complete, .commit].filter { profile.step($0) != nil } }

  /// Names in ``LearnedFacts/discovered``: whether `auth.refresh` is due, and the values that it extracted.
  static let refreshIsDue = "refresh"
  static func secret(_ name: String) -> String { LearnedFacts.secretPrefix + name }

  // MARK: - Requests

  package func nextStep(_ facts: TransferFacts) -> TransferStep { ProfileProgress(self, facts).nextStep() }

  package func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest { try ProfileRequest(proto: self).request(for: step, facts, context) }

  /// The step of the profile for a step of the engine; its name is nil for `auth.refresh`.
  func described(_ step: StepRequest) -> (StepName?, ProfileStep)? {
    let name: StepName? =
      switch step {
      case .create: .begin
      case .probe: .probe
      case .chunk: .chunk
      case .prepareChunk: .prepareChunk
      case .probeChunk: .probeChunk
      case .finish: finishName
      case .save: saveName
      case .verify: .verify
      case .abort: .abort
      case .discover: nil
      case .makeParent: .makeParent
      }
    if case .discover = step { return profile.auth.refresh.map { (nil, $0) } }
    guard let name, let described = profile.step(name) else { return nil }
    return (name, described)
  }

  package func layout(size: Int64) throws(TransferError) -> ChunkLayout {
    try ProfileLayout(profile: profile, partSize: partSize).layout(size: size)
  }

  package func layout(_ facts: TransferFacts) throws(TransferError) -> ChunkLayout {
    try ProfileLayout(profile: profile, partSize: partSize).layout(facts)
  }

  public func plannedRequests(size: Int64) throws(TransferError) -> Int {
    try ProfilePlan(proto: self).requests(size: size)
  }

  public var plannedDiscovery: Int { 0 }

  package func uploadName(_ meaning: Interpretation, to step: StepRequest, _ facts: TransferFacts) -> UploadName? {
    ProfileUploadNames(profile: profile).uploadName(meaning, to: step, facts)
  }

  /// Hosts that are known before anything is sent: that of the destination, and those written in the profile.
  public var hosts: [String] { trust.hosts }

  // MARK: - Keys

  public func refusal(ofKey key: NameBytes) -> Failure? { WebPlace.refusal(ofKey: key) }

  public func location(ofKey key: NameBytes) -> String { place.location(key) }

  public var keyPlace: String { place.keyPlace }

  private var place: ProfilePlace {
    ProfilePlace(profile: profile, inputs: inputs, query: query, references: references)
  }

  // MARK: - Digests

  package func digestsAhead(_ learned: LearnedFacts, _ layout: ChunkLayout) -> Set<DigestAlgorithm> {
    Set(profile.chunk.hashes.map(\.algorithm))
  }

  package func fileDigests(for step: StepRequest, _ facts: TransferFacts) -> Set<DigestAlgorithm> {
    described(step).map { ProfileDigests(profile: profile).ofFile(for: step, $0.1, facts) } ?? []
  }

  /// Without an abort step the server is not notified.
  public func abortTargets(_ facts: TransferFacts) -> [String] {
    guard ProfileProgress(self, facts).wants(.abort) else { return [] }
    return facts.session?.remoteID.map { [$0] } ?? []
  }
}
