public import TransferModel

/// Raw bodies to a web server: PUT to the URL that names the object, POST to one that makes it, PUT into WebDAV
/// folders.
///
/// A PUT that lost its answer is sent again. A POST is not: nobody can be asked whether it took effect, so the file is
/// `unknown` until a person decides. `Content-Range` is never sent: there are servers that store the fragment as the
/// whole.
public struct PutProtocol: TransferProtocol {
  enum Method: String, Sendable, Hashable {
    case put, post, dav
  }

  let method: Method
  let place: WebPlace
  let ifNoneMatch: Bool
  let expectContinue: Bool
  let mediaType: MediaTypeChoice
  /// What counts as stored although it does not say so.
  var answers = AcceptedAnswers()

  public var name: String { method.rawValue }
  public var abilities: ProtocolAbilities {
    ProtocolAbilities(
      parallelChunks: false, resumable: false, unrepeatable: method == .post ? [.part] : [])
  }
  public let sentDigest = DigestAlgorithm.crc32c

  public func layout(size: Int64) throws(TransferError) -> ChunkLayout { ChunkLayout(whole: size) }

  public func refusal(ofKey key: NameBytes) -> Failure? { WebPlace.refusal(ofKey: key) }

  public func location(ofKey key: NameBytes) -> String { place.url(key) }

  public var keyPlace: String { place.keyPlace }

  public func nextStep(_ facts: TransferFacts) -> TransferStep {
    if facts.isAllStored {
      let part = facts.parts.first
      return .complete(
        FileProof(confirmation: part?.confirmation ?? .none, digest: part?.digest, etag: part?.etag ?? ""))
    }
    if method == .dav, let parent = facts.missingParent { return .control(parent) }
    return .chunks
  }
}
