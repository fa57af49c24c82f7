public import TransferModel

/// WebDAV uploads that resume: `PATCH` with `X-Update-Range`, as in SabreDAV (sabre.io/dav/http-patch).
///
/// A file is sent body by body into a temporary object beside its name. Each body states its position in the file, so
/// that it can be sent again. HEAD shows how much the server has. When HEAD has shown that the object is complete, it
/// is moved to its name (RFC 4918 section 9.9): an incomplete object never has that name.
///
/// A MOVE is never repeated without a query. Seen with sabre/dav 1.8.12 (Debian 12): it deletes the object at the
/// destination before it notices that the source does not exist, and ignores `If-Match` with MOVE. Therefore HEAD of
/// the temporary object precedes each MOVE. If the temporary object is gone after a lost answer, it was moved, provided
/// that the object with the final name is what was sent.
public struct DavPatchProtocol: TransferProtocol, PartialBodies, RequestEstimate {
  let place: WebPlace
  /// Bytes; nil for the default.
  let partSize: Int64?
  let ifNoneMatch: Bool
  let expectContinue: Bool
  let mediaType: MediaTypeChoice

  /// The feature in the `DAV` field of the answer to OPTIONS.
  static let feature = "sabredav-partialupdate"
  static let defaultPart: Int64 = 64 << 20
  static let smallestPart: Int64 = 16 << 10
  private static let mostChunks: Int64 = 10_000
  /// The limit if no size is chosen. Seen with sabre/dav 1.8.12: after each PATCH it reads the whole object for its
  /// ETag.
  private static let mostChosenChunks: Int64 = 256

  /// Names of the notes of a session.
  enum Note {
    /// The temporary object was created.
    static let made = "made"
    /// The ETag of the complete temporary object.
    static let etag = "etag"
    /// A MOVE was answered with an error, and may have been carried out.
    static let asked = "asked"
    /// How the move was confirmed: ``told`` or ``missing``.
    static let moved = "moved"
    /// The result of a MOVE could not be determined, and the file became `unknown`.
    static let doubted = "doubted"
    /// The longest body that the server accepts.
    static let body = "body"

    /// The server confirmed it.
    static let told = "told"
    /// The answer was lost, and the temporary object is gone.
    static let missing = "missing"
  }

  public let name = "davpatch"
  public let abilities = ProtocolAbilities(parallelChunks: false, resumable: true, needsParts: true)
  public let sentDigest = DigestAlgorithm.crc32c

  package func layout(size: Int64) throws(TransferError) -> ChunkLayout {
    let most = partSize == nil ? Self.mostChosenChunks : Self.mostChunks
    let chunkSize = max(partSize ?? Self.defaultPart, size.dividedUp(by: most))
    return size > chunkSize ? ChunkLayout(size: size, chunkSize: chunkSize) : ChunkLayout(whole: size)
  }

  public var plannedDiscovery: Int { 1 }

  /// Creating, querying and moving the temporary object, and querying the result.
  public func plannedRequests(size: Int64) throws(TransferError) -> Int {
    4 + (size == 0 ? 0 : try layout(size: size).count)
  }

  public func refusal(ofKey key: NameBytes) -> Failure? { WebPlace.refusal(ofKey: key) }

  public func location(ofKey key: NameBytes) -> String { place.url(key) }

  public var keyPlace: String { place.keyPlace }

  package var objectPlace: ObjectPlace? { place.objectPlace }

  package func bodyRange(of chunk: ChunkFacts, _ facts: TransferFacts) -> ByteRange {
    var most = chunk.mostBody ?? .max
    if let limit = facts.session?.notes[Note.body].flatMap({ Int64($0) }), limit > 0 { most = min(most, limit) }
    return ByteRange(offset: chunk.rest.offset, length: min(chunk.rest.length, most))
  }

  // MARK: - Steps

  package func nextStep(_ facts: TransferFacts) -> TransferStep {
    guard let discovered = facts.learned.discovered else { return .control(.discover) }
    guard discovered[Self.feature] != nil else { return .fail(Self.unsupported) }
    guard let session = facts.session else { return .openSession(remoteID: temporaryURL(facts), notes: [:]) }
    if session.notes[Note.made] == nil { return .control(facts.missingParent ?? .create) }
    if facts.isAllStored { return lastStep(facts, session.notes) }
    let mustAsk = !facts.isProbed && (facts.isResumed || facts.lostAnswer == .part)
    return mustAsk ? .control(.probe(marker: nil)) : .chunks
  }

  /// `verify` queries the temporary object until it is moved, and then the object with the final name.
  private func lastStep(_ facts: TransferFacts, _ notes: [String: String]) -> TransferStep {
    let isUntold = facts.inconclusive.contains(.verify)
    if notes[Note.moved] != nil {
      return isUntold
        ? .complete(FileProof(confirmation: .none, digest: facts.parts.combinedDigest)) : .control(.verify)
    }
    return .control(facts.isAbsent || isUntold ? .finish : .verify)
  }

  /// The object is in the collection of the file, with a name that no other upload, and no earlier upload of the same
  /// file, has: a late answer or abort can never concern this upload.
  private func temporaryURL(_ facts: TransferFacts) -> String {
    let key = facts.file.key.bytes
    let folder = key.lastIndex(of: 0x2F).map { Array(key[...$0]) } ?? []
    return place.url(NameBytes(folder + Array(".transfers-\(facts.file.uid)-\(facts.wallMs)".utf8)))
  }

  static let unsupported = Failure(
    .protoUnsupported,
    "the server does not take PATCH with X-Update-Range (\(feature) in the DAV field); write dav+ instead of davpatch+")
}
