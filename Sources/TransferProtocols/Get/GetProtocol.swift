public import TransferModel

/// Downloads by GET. The first request asks for the beginning of the file. Its answer identifies the version of the
/// file: its length, its validators, and whether ranges of it are available (RFC 9110 sections 8.8 and 14). No HEAD is
/// sent before: signed URLs are valid for one method only, and HEAD does not always report what GET sends. A small file
/// takes one request.
///
/// That version is the session of the file: each further request asks for it, and each answer is compared with it
/// before a byte of its body is accepted. So no file is assembled from two versions.
///
/// If the server has a strong validator and sends ranges, chunks are fetched concurrently and resume where they were
/// interrupted. Otherwise the file is fetched in one body, from its beginning.
public struct GetProtocol: TransferProtocol, Sendable {
  let source: any GetSource
  /// Bytes; nil for the default.
  let chunkSize: Int64?
  /// Ranges of one file at a time; nil for the usual number.
  let segments: Int?
  /// Files get the names that servers send.
  var usesRemoteNames = false
  /// Checksums of blocks are requested where there is an older file.
  var usesZsync = false

  public var name: String { source.protocolName }
  public var abilities: ProtocolAbilities {
    ProtocolAbilities(
      parallelChunks: true, mostParallel: segments ?? Self.usualRanges, resumable: true, needsParts: true)
  }
  public var sentDigest: DigestAlgorithm { source.sentDigest }

  /// Concurrent ranges of one file: many servers allow an address only a few connections.
  private static let usualRanges = 4
  static let leastChunk: Int64 = 64 << 10
  static let mostChunk: Int64 = 1 << 40
  private static let usualChunk: Int64 = 32 << 20
  static let mostChunks: Int64 = 10_000
  /// A file is not divided into shorter ranges, each of which is a request and a row, unless a person wants that.
  private static let shortestShare: Int64 = 4 << 20
  /// The length that the first request asks for: enough for most files, and short enough that the concurrent ranges of
  /// larger ones begin soon.
  private static let longestBeginning: Int64 = 1 << 20
  /// The same where most of the file may be here already.
  static let shortBeginning: Int64 = 4 << 10

  /// The plan before the server was asked: one chunk.
  package func layout(size: Int64) throws(TransferError) -> ChunkLayout { ChunkLayout(whole: size) }

  public func refusal(ofKey key: NameBytes) -> Failure? { key.isEmpty ? nil : source.refusal(ofKey: key) }

  public func location(ofKey key: NameBytes) -> String { source.location(ofKey: key) }

  package func nextStep(_ facts: TransferFacts) -> TransferStep {
    if facts.file.key.isFolder {
      guard facts.session != nil else { return .openSession(remoteID: "listing", notes: [:]) }
      return .control(.probe(marker: nil))
    }
    guard let version = RemoteVersion(facts.session) else {
      return exhausted(facts).map { .fail($0) } ?? .control(.create)
    }
    if !facts.isAllStored, let failure = exhausted(facts) { return .fail(failure) }
    guard facts.isAllStored else {
      if PartNotes.areWanted(facts.session) { return .control(.probe(marker: PartNotes.marker)) }
      if facts.blocks != nil { return .reuse(ContentComparison(version, facts).proof) }
      if !facts.isReused, let past = PastVersion(facts), past.isSame(as: version) { return .reuse(past.download.proof) }
      if PieceNotes.areWanted(facts.session) { return .reuse(ContentComparison(version, facts).proof) }
      return wantsBlocks(facts) ? .control(.probe(marker: BlockNotes.marker)) : .chunks
    }
    // For files that arrived in more than one range.
    if source.tellsDigestsLate, facts.layout.size > beginning(facts).length, version.lacksDigest,
      version.validator != nil, !facts.inconclusive.contains(.probe), !CompositeNotes.areKnown(facts.session)
    {
      return .control(.probe(marker: nil))
    }
    if asksForChecksums(facts) { return .control(.probe(marker: CompositeNotes.marker)) }
    let judgement = ContentComparison(version, facts)
    if let mismatch = judgement.mismatch { return .fail(mismatch) }
    return .place(judgement.proof)
  }

  /// How a file of this version is divided into chunks.
  func layout(of version: RemoteVersion, _ expected: ExpectedContent) -> ChunkLayout {
    guard version.hasRanges(expected) else { return ChunkLayout(whole: version.size) }
    let (least, wanted) = (version.size / Self.mostChunks + 1, chunkSize ?? chosenChunk(version.size))
    let length = wanted >= least ? wanted : least +| ((expected.pieces?.length ?? 1) - 1)
    return ChunkLayout(
      size: version.size, chunkSize: Self.aligned(length, to: expected.pieces, of: version.size))
  }

  /// Shorter where chunks of the usual size would give fewer ranges than may be fetched at a time.
  private func chosenChunk(_ size: Int64) -> Int64 {
    let share = (size - 1) / Int64(segments ?? Self.usualRanges) + 1
    return min(Self.usualChunk, max(segments == nil ? Self.shortestShare : Self.longestBeginning, share))
  }

  package func beginning(_ facts: TransferFacts) -> ByteRange {
    // A file that one request brings is not compared.
    let isShort = facts.file.expected.size.map { $0 <= Self.longestBeginning } ?? false
    let longest = usesZsync && !isShort ? Self.shortBeginning : Self.longestBeginning
    // A run whose limit is shorter fetches small files all the same, and learns the size of the others.
    let limit = facts.file.expected.size == nil ? facts.byteLimit ?? longest : longest
    let length = min(chunkSize ?? longest, longest, max(1, limit))
    // Complete pieces, if they are not long.
    guard let pieces = facts.file.expected.pieces, pieces.length <= Self.usualChunk, let size = facts.file.expected.size
    else { return ByteRange(offset: 0, length: length) }
    return ByteRange(offset: 0, length: Self.aligned(length, to: pieces, of: size))
  }
}

extension GetProtocol: LatePlanning {
  public var plansLate: Bool { true }

  package func layout(_ facts: TransferFacts) throws(TransferError) -> ChunkLayout {
    layout(of: RemoteVersion(facts.session) ?? RemoteVersion(size: facts.file.size), facts.file.expected)
  }
}

/// Nothing is left on the server: only the partial file must be removed.
extension GetProtocol: AbortTargets {
  public func abortTargets(_ facts: TransferFacts) -> [String] { [] }
}
