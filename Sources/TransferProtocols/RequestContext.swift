public import TransferModel

/// The input of a request besides the facts.
public struct RequestContext: Sendable {
  /// Milliseconds since 1970 UTC, by our clock.
  public var wallMs: Int64
  public var credential: Credential?
  public var learned: LearnedFacts
  /// Consecutive earlier attempts of this step without progress.
  public var failures: Int
  /// The digests requested by ``WholeFileDigests/fileDigests(for:_:)``.
  public var fileDigests: [DigestAlgorithm: Digest]
  /// ``learned`` at the time of the request whose answer is interpreted; nil if not recorded.
  public var learnedWhenSent: LearnedFacts?
  /// ``TransferFacts/route`` at that time; nil if not recorded.
  public var routeWhenSent: Route?
  /// Whether a regular file exists at the path that ``TransferFacts/past`` wrote; whether it is unchanged was not
  /// checked.
  public var holdsPast = false
  /// The digest of the bytes in the answer to a `create`; nil if there were none, or not all that its header announced.
  public var receivedDigest: Digest?
  /// The wrong pieces among ``BodiesInAnswers/pieces(in:bytes:size:_:)``.
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

/// Facts about a destination learned from answers; kept by the engine for all files of a batch during a run.
public struct LearnedFacts: Sendable, Hashable {
  /// The bucket's real region.
  public var region: String?
  /// Server clock minus ours, in milliseconds.
  public var clockSkewMs: Int64 = 0
  /// Checksum support for requests with a whole object.
  public var checksums: ChecksumSupport = .untried
  /// Checksum support for parts of an upload session: some servers confirm only one of the two.
  public var partChecksums: ChecksumSupport = .untried
  /// S3: the server does not accept the object size in the request that completes an upload.
  public var refusesObjectSize = false
  /// It answered 417: requests are sent without `Expect`.
  public var refusesExpect = false
  /// Range requests are unsupported or unreliable: files are requested completely.
  public var refusesRanges = false
  /// Endings of names (`json`, or none) of files that it compresses although nothing was asked for.
  public var codedKinds: Set<String> = []
  /// It answered 304 in an inconclusive way: files are requested without a condition.
  public var misusesConditions = false
  /// It does not say in which parts objects were stored.
  public var refusesParts = false
  /// It does not list the parts of objects.
  public var refusesPartLists = false
  /// How many published checksums of blocks were refused since any were sent.
  public var blockRefusals = 0
  /// Origins of mirrors that sent wrong bytes: no longer used.
  public var mistrusted: Set<String> = []
  /// Origins of mirrors that were unreachable or interrupted bodies: used last.
  public var failing: Set<String> = []
  /// The protocol's values from a ``StepRequest/discover``; nil until one was answered.
  public var discovered: [String: String]?

  /// The prefix of names of secrets in ``discovered``.
  public static let secretPrefix = "secret."

  /// The secrets in ``discovered``, by name. Never stored or shown.
  public var secrets: [String: String] {
    guard let discovered else { return [:] }
    let found = discovered.filter { $0.key.hasPrefix(Self.secretPrefix) }
    return Dictionary(uniqueKeysWithValues: found.map { (String($0.key.dropFirst(Self.secretPrefix.count)), $0.value) })
  }

  /// A server may publish checksums of some files only.
  static let mostBlockRefusals = 8

  /// Published checksums of blocks are no longer requested.
  public var refusesBlocks: Bool { blockRefusals >= Self.mostBlockRefusals }

  public enum ChecksumSupport: String, Sendable, Codable {
    /// Unknown: send our checksum and compute what both outcomes need.
    case untried
    /// The server answers with our checksum, so it verified it.
    case confirmed
    /// Accepted without a reply: nothing was verified.
    case ignored
    /// Refused: do not send it.
    case refused
  }

  public init() {}
}
