public import TransferModel

/// Raw bodies to a web server: PUT to the URL that names the object, POST to one that makes it, PUT into WebDAV folders.
///
/// A PUT that lost its answer is sent again. A POST is not: nobody can be asked whether it took effect, so the file is
/// `unknown` until a person decides. `Content-Range` is never sent: there are servers that store the fragment as the whole.
public struct PutProtocol: UploadProtocol {
  let place: WebPlace
  let ifNoneMatch: Bool
  let expectContinue: Bool

  public var name: String { place.method.rawValue }
  public var abilities: ProtocolAbilities {
    ProtocolAbilities(
      parallelChunks: false, resumable: false, unrepeatable: place.method == .post ? [.part] : [])
  }
  public let sentDigest = DigestAlgorithm.crc32c

  public func layout(size: Int64) throws(TransferError) -> ChunkLayout { ChunkLayout(whole: size) }

  public func refusal(ofKey key: NameBytes) -> Failure? {
    if key.isEmpty { return Failure(.sourceName, "the name is empty") }
    if key.bytes.contains(0) { return Failure(.sourceName, "the name holds a NUL byte") }
    let components = key.bytes.split(separator: 0x2F, omittingEmptySubsequences: false)
    // Servers resolve these: the object would get another name, perhaps above the folder that was meant.
    let isRelative = components.contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
    return isRelative ? Failure(.sourceName, "the name has a \".\" or \"..\" component") : nil
  }

  public func location(ofKey key: NameBytes) -> String { place.url(key) }

  public func digestsAhead(_ learned: LearnedFacts) -> Set<DigestAlgorithm> { [] }

  public func nextStep(_ facts: UploadFacts) -> UploadStep {
    if facts.isAllStored {
      let part = facts.parts.first
      return .complete(
        FileProof(confirmation: part?.confirmation ?? .none, digest: part?.digest, etag: part?.etag ?? ""))
    }
    if let made = facts.parentsMade, made < parentCount(facts.file.key) {
      return .control(.makeParent(depth: made + 1))
    }
    return .chunks
  }

  /// How many collections lie between the origin and the object.
  private func parentCount(_ key: NameBytes) -> Int {
    place.method == .dav ? key.bytes.count { $0 == 0x2F } : 0
  }
}
