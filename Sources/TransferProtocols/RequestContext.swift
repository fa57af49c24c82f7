public import TransferModel

/// What a request may be built from besides the facts.
public struct RequestContext: Sendable {
  /// Milliseconds since 1970 UTC, by our clock.
  public var wallMs: Int64
  public var credential: Credential?
  public var learned: LearnedFacts
  /// Attempts of this step before this one that moved nothing.
  public var failures: Int
  /// What ``WholeFileDigests/fileDigests(for:_:)`` asked for.
  public var fileDigests: [DigestAlgorithm: Digest]
  /// ``learned`` as it was when the request was made whose answer is interpreted; nil where nobody noted it.
  public var learnedWhenSent: LearnedFacts?
  /// ``TransferFacts/route`` as it was then; nil where nobody noted it.
  public var routeWhenSent: Route?
  /// A regular file stands where ``TransferFacts/past`` wrote one: whether it is still the same nobody has looked at.
  public var holdsPast = false
  /// Of the bytes that the answer to a `create` brought; nil when none came, or not all that its header announced.
  public var receivedDigest: Digest?
  /// Those of ``BodiesInAnswers/pieces(in:bytes:size:_:)`` that are not what they are to be.
  public var wrongPieces: [Int] = []

  public init(
    wallMs: Int64, credential: Credential?, learned: LearnedFacts, failures: Int = 0,
    fileDigests: [DigestAlgorithm: Digest] = [:], learnedWhenSent: LearnedFacts? = nil
  ) {
    self.wallMs = wallMs
    self.credential = credential
    self.learned = learned
    self.failures = failures
    self.fileDigests = fileDigests
    self.learnedWhenSent = learnedWhenSent
  }
}

/// A secret in use. Never stored, logged or printed: `description` hides it.
public enum Credential: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  case aws(accessKey: String, secretKey: String, sessionToken: String?)
  case basic(user: String, password: String)
  case bearer(token: String)
  /// Named secrets of a profile.
  case inputs([String: String])

  public var description: String {
    switch self {
    case .aws: "aws credential (hidden)"
    case .basic: "basic credential (hidden)"
    case .bearer: "bearer credential (hidden)"
    case .inputs(let values): "inputs \(values.keys.sorted().joined(separator: ", ")) (hidden)"
    }
  }
  public var debugDescription: String { description }
}

/// What answers taught about a destination; kept by the engine for all files of a batch while it runs.
public struct LearnedFacts: Sendable, Hashable {
  /// The bucket's real region.
  public var region: String?
  /// Server clock minus ours, in milliseconds.
  public var clockSkewMs: Int64 = 0
  /// For requests that send a whole object.
  public var checksums: ChecksumSupport = .untried
  /// For parts of an upload session: there are servers that confirm the one and not the other.
  public var partChecksums: ChecksumSupport = .untried
  /// S3: the size of the whole is not understood in the request that completes an upload.
  public var refusesObjectSize = false
  /// It answered 417: requests go there without `Expect`.
  public var refusesExpect = false
  /// Ranges of its files cannot be had, or not relied on: each is asked for whole.
  public var refusesRanges = false
  /// It answered 304 in a way that says nothing: files are asked for without a condition.
  public var misusesConditions = false
  /// Origins of mirrors that sent other bytes than those of their file: not asked any more.
  public var mistrusted: Set<String> = []
  /// Origins of mirrors that could not be reached, or broke off: asked last.
  public var failing: Set<String> = []
  /// What a ``StepRequest/discover`` learned, in the protocol's own words; nil until one was answered.
  public var discovered: [String: String]?

  /// How the names of secrets begin in ``discovered``.
  public static let secretPrefix = "secret."

  /// The secrets in ``discovered``, by name. Never stored or shown.
  public var secrets: [String: String] {
    guard let discovered else { return [:] }
    let found = discovered.filter { $0.key.hasPrefix(Self.secretPrefix) }
    return Dictionary(uniqueKeysWithValues: found.map { (String($0.key.dropFirst(Self.secretPrefix.count)), $0.value) })
  }

  public enum ChecksumSupport: String, Sendable, Codable {
    /// Not known yet: send ours and compute what both outcomes need.
    case untried
    /// The server answers with our checksum: it checked it.
    case confirmed
    /// Accepted without a word: nothing was checked.
    case ignored
    /// Refused: send none.
    case refused
  }

  public init() {}
}
