public import TransferModel

/// WebDAV with bodies that resume: `PATCH` with `X-Update-Range`, as SabreDAV has it (sabre.io/dav/http-patch).
///
/// A file goes body by body into a temporary object beside its name, each with the bytes of the file that it is, so
/// that a body may be sent again. How much the server holds is asked by HEAD. When HEAD has shown that all of it is
/// there, the object is moved to its name (RFC 4918 section 9.9): nothing half-written ever stands there.
///
/// A MOVE is never repeated without asking. Seen with sabre/dav 1.8.12 (Debian 12): it deletes what is at the
/// destination before it finds that there is nothing to move, and ignores `If-Match` with MOVE. So HEAD of the
/// temporary object goes ahead of every MOVE, and one that is gone after a lost answer was moved, if what has the name
/// is what was sent.
public struct DavPatchProtocol: TransferProtocol, PartialBodies, RequestEstimate {
  let place: WebPlace
  /// Bytes; nil chooses.
  let partSize: Int64?
  let ifNoneMatch: Bool
  let expectContinue: Bool
  let mediaType: MediaTypeChoice

  /// In the `DAV` field of the answer to OPTIONS.
  static let feature = "sabredav-partialupdate"
  static let defaultPart: Int64 = 64 << 20
  static let smallestPart: Int64 = 16 << 10
  private static let mostChunks: Int64 = 10_000
  /// Unless a size is chosen. Seen with sabre/dav 1.8.12: after each PATCH it reads the whole object for its ETag.
  private static let mostChosenChunks: Int64 = 256

  /// Names of what is kept with a session.
  enum Note {
    /// The temporary object was made.
    static let made = "made"
    /// The ETag of the whole temporary object.
    static let etag = "etag"
    /// A MOVE was answered by an error, and may have been carried out.
    static let asked = "asked"
    /// How it is known that the object was moved: ``told`` or ``missing``.
    static let moved = "moved"
    /// The longest body that the server takes.
    static let body = "body"

    /// The server said so.
    static let told = "told"
    /// The answer was lost, and the temporary object is gone.
    static let missing = "missing"
  }

  public let name = "davpatch"
  public let abilities = ProtocolAbilities(parallelChunks: false, resumable: true, needsParts: true)
  public let sentDigest = DigestAlgorithm.crc32c

  public func layout(size: Int64) throws(TransferError) -> ChunkLayout {
    let most = partSize == nil ? Self.mostChosenChunks : Self.mostChunks
    let chunkSize = max(partSize ?? Self.defaultPart, (size + most - 1) / most)
    return size > chunkSize ? ChunkLayout(size: size, chunkSize: chunkSize) : ChunkLayout(whole: size)
  }

  public var plannedDiscovery: Int { 1 }

  /// The temporary object is made, looked at and moved, and the result is looked at.
  public func plannedRequests(size: Int64) throws(TransferError) -> Int {
    4 + (size == 0 ? 0 : try layout(size: size).count)
  }

  public func refusal(ofKey key: NameBytes) -> Failure? { WebPlace.refusal(ofKey: key) }

  public func location(ofKey key: NameBytes) -> String { place.url(key) }

  public var keyPlace: String { place.keyPlace }

  public func bodyRange(of chunk: ChunkFacts, _ facts: TransferFacts) -> ByteRange {
    var most = chunk.mostBody ?? .max
    if let limit = facts.session?.notes[Note.body].flatMap({ Int64($0) }), limit > 0 { most = min(most, limit) }
    return ByteRange(offset: chunk.rest.offset, length: min(chunk.rest.length, most))
  }

  // MARK: - Steps

  public func nextStep(_ facts: TransferFacts) -> TransferStep {
    guard let discovered = facts.learned.discovered else { return .control(.discover) }
    guard discovered[Self.feature] != nil else { return .fail(Self.unsupported) }
    guard let session = facts.session else { return .openSession(remoteID: temporaryURL(facts), notes: [:]) }
    if session.notes[Note.made] == nil { return .control(facts.missingParent ?? .create) }
    if facts.isAllStored { return lastStep(facts, session.notes) }
    let mustAsk = !facts.isProbed && (facts.isResumed || facts.lostAnswer == .part)
    return mustAsk ? .control(.probe(marker: nil)) : .chunks
  }

  /// `verify` looks at the temporary object until it is moved, and then at what has the name.
  private func lastStep(_ facts: TransferFacts, _ notes: [String: String]) -> TransferStep {
    let isUntold = facts.untold.contains(.verify)
    if notes[Note.moved] != nil {
      return isUntold
        ? .complete(FileProof(confirmation: .none, digest: facts.parts.combinedDigest)) : .control(.verify)
    }
    return .control(facts.isAbsent || isUntold ? .finish : .verify)
  }

  /// In the collection of the object, with a name that no other upload has, and none before it of the same file: an
  /// answer or an abort that comes late cannot be about this one.
  private func temporaryURL(_ facts: TransferFacts) -> String {
    let key = facts.file.key.bytes
    let folder = key.lastIndex(of: 0x2F).map { Array(key[...$0]) } ?? []
    return place.url(NameBytes(folder + Array(".transfers-\(facts.file.uid)-\(facts.wallMs)".utf8)))
  }

  static let unsupported = Failure(
    .protoUnsupported,
    "the server does not take PATCH with X-Update-Range (\(feature) in the DAV field); write dav+ instead of davpatch+")
}
