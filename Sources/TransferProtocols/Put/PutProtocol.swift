public import TransferModel

/// Raw bodies to a web server: PUT to the URL that names the object, POST to a URL that creates one, PUT into WebDAV
/// folders.
///
/// A PUT whose answer was lost is sent again. A POST is not: its outcome cannot be queried, so the file is `unknown`
/// until a person decides. `Content-Range` is never sent, because some servers store the fragment as the whole object.
public struct PutProtocol: TransferProtocol {
  enum Method: String, Sendable, Hashable {
    case put, post, dav
  }

  let method: Method
  let place: WebPlace
  let ifNoneMatch: Bool
  let expectContinue: Bool
  let mediaType: MediaTypeChoice
  /// Answers that count as stored although they do not confirm it.
  var answers = AcceptedAnswers()

  public var name: String { method.rawValue }
  public var abilities: ProtocolAbilities {
    ProtocolAbilities(
      parallelChunks: false, resumable: false, unrepeatable: method == .post ? [.part] : [])
  }
  public let sentDigest = DigestAlgorithm.crc32c

  package func layout(size: Int64) throws(TransferError) -> ChunkLayout { ChunkLayout(whole: size) }

  public func refusal(ofKey key: NameBytes) -> Failure? { WebPlace.refusal(ofKey: key) }

  public func location(ofKey key: NameBytes) -> String { place.url(key) }

  /// A POST creates an object that the server names: it is none of those that a PUT stores.
  public var keyPlace: String { method == .post ? KeyPlace.text(place.keyPlace, by: name) : place.keyPlace }

  package var objectPlace: ObjectPlace? { method == .post ? nil : place.objectPlace }

  package func nextStep(_ facts: TransferFacts) -> TransferStep {
    if facts.isAllStored {
      let part = facts.parts.first
      return .complete(
        FileProof(confirmation: part?.confirmation ?? .none, digest: part?.digest, etag: part?.etag ?? ""))
    }
    if method == .dav, let parent = facts.missingParent { return .control(parent) }
    return .chunks
  }
}
