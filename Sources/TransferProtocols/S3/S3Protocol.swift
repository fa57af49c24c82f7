public import TransferModel

/// Uploads to S3 and compatible servers: one PUT for small files, multipart for larger ones.
///
/// The queries before a repetition, so that nothing is stored twice or left behind:
///
/// | lost answer | query | then |
/// |---|---|---|
/// | to create | which uploads for exactly our key began after our recorded intention, and have no part? | abort them,
/// create |
/// | to a part | which parts exist, and with which digest? | send the others |
/// | to complete | does the object exist, with our uid and size? | done, or list the parts and complete again |
/// | the same, but queries are refused | complete again, which is harmless | done; done with proof `none` if the upload
/// is gone |
/// | to a PUT with `If-None-Match` | does the object exist, with our uid and size? | done, or PUT again |
/// | the same, but queries are refused | PUT again, which is harmless | done, or unknown if an object exists |
///
/// Every object has `x-amz-meta-transfers-uid`, which distinguishes ours from others.
public struct S3Protocol: TransferProtocol, UnlistedUploadListing, ShortChunks, DigestsAhead, ListingProof,
  RequestEstimate
{
  let settings: S3Settings

  public let name = "s3"
  public let abilities = ProtocolAbilities(
    parallelChunks: true, resumable: true, verifiesContent: true)
  public let sentDigest = DigestAlgorithm.crc64nvme

  static let uidField = "x-amz-meta-transfers-uid"
  static let checksumField = "x-amz-checksum-crc64nvme"

  package func layout(size: Int64) throws(TransferError) -> ChunkLayout {
    try S3Layout.layout(size: size, partSize: settings.partSize)
  }

  package func layoutOfShortChunks(size: Int64) throws(TransferError) -> ChunkLayout {
    try S3Layout.layout(size: size, partSize: settings.partSize, shortest: S3Layout.smallestPart)
  }

  /// Several parts require that their upload is created and completed.
  public func plannedRequests(size: Int64) throws(TransferError) -> Int {
    let count = try layout(size: size).count
    return count > 1 ? count + 2 : count
  }

  public var plannedDiscovery: Int { 0 }

  public func refusal(ofKey key: NameBytes) -> Failure? {
    if key.isEmpty { return Failure(.sourceName, "the key is empty") }
    if key.bytes.count > 1024 { return Failure(.sourceName, "the key has \(key.bytes.count) bytes; S3 allows 1024") }
    if key.bytes.contains(0) { return Failure(.sourceName, "the key contains a NUL byte") }
    guard let text = key.utf8 else { return Failure(.sourceName, "the name is not UTF-8, as S3 keys are; rename it") }
    // Servers and proxies resolve these: the object would get another name.
    let isRelative = text.split(separator: "/", omittingEmptySubsequences: false).contains { $0 == "." || $0 == ".." }
    return isRelative ? Failure(.sourceName, "the key has a \".\" or \"..\" component") : nil
  }

  public func location(ofKey key: NameBytes) -> String { settings.location(key) }

  public var keyPlace: String { settings.keyPlace }

  package var objectPlace: ObjectPlace? { ObjectPlace(settings.site) }

  /// The digests that both outcomes need while it is unknown whether the server verifies: the checksum, and MD5 for
  /// `Content-MD5` and the ETag. MD5 is not computed once the server has answered with a checksum.
  package func digestsAhead(_ learned: LearnedFacts, _ layout: ChunkLayout) -> Set<DigestAlgorithm> {
    digests(layout.count > 1 ? learned.partChecksums : learned.checksums)
  }

  private func digests(_ support: LearnedFacts.ChecksumSupport) -> Set<DigestAlgorithm> {
    let body: Set<DigestAlgorithm> =
      switch support {
      case .untried: [.crc64nvme, .md5]
      case .confirmed: [.crc64nvme]
      case .ignored, .refused: [.md5]
      }
    return settings.signsPayload ? body.union([.sha256]) : body
  }

  package func nextStep(_ facts: TransferFacts) -> TransferStep {
    guard facts.layout.count > 1 else { return wholeStep(facts) }
    guard let session = facts.session else { return .control(.create) }
    guard session.remoteID != nil else { return createStep(facts) }
    if facts.isAllStored { return finishStep(facts) }
    if facts.lostAnswer != nil && !facts.isProbed { return .control(.probe(marker: facts.probeMarker)) }
    return .chunks
  }

  /// A PUT may be repeated, but not with `If-None-Match`: the existing object may be ours.
  private func wholeStep(_ facts: TransferFacts) -> TransferStep {
    if facts.isAllStored {
      if facts.inconclusive.contains(.verify) { return .complete(FileProof(confirmation: .none)) }
      guard facts.isAbsent else { return .control(.verify) }
      return .fail(Failure(.protoLostAnswer, "the server accepted the object, but it does not exist"))
    }
    let isLost = facts.lostAnswer == .part || facts.lostAnswer == .verify
    let isAsked = facts.isAbsent || facts.inconclusive.contains(.verify)
    return settings.ifNoneMatch && isLost && !isAsked ? .control(.verify) : .chunks
  }

  private func createStep(_ facts: TransferFacts) -> TransferStep {
    if facts.lostAnswer != nil && !facts.isProbed { return .control(.probe(marker: facts.probeMarker)) }
    if let unlisted = facts.unlistedUploads.first { return .control(.abort(remoteID: unlisted)) }
    return .control(.create)
  }

  /// The object is queried before the session: a completed session is gone on AWS and moto and still exists on
  /// OpenStack Swift, so the state of the session proves nothing.
  /// Source: moto 5.2.1, Swift 2.30 s3api, seen 2026-11-21.
  private func finishStep(_ facts: TransferFacts) -> TransferStep {
    if facts.isAbsent { return .control(facts.isProbed ? .finish : .probe(marker: facts.probeMarker)) }
    return .control(facts.lostAnswer == nil || facts.inconclusive.contains(.verify) ? .finish : .verify)
  }
}
