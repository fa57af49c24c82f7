import HTTPTypes
import TransferModel

/// Files at their own URLs.
struct WebSource: GetSource {
  let place: WebPlace
  let protocolName: String
  let sentDigest = DigestAlgorithm.crc32c
  let sendsWhatIsStored = false
  let tellsDigestsLate = false

  /// Keys are encoded when they are recorded (``DownloadURL/key``).
  func refusal(ofKey key: NameBytes) -> Failure? {
    let isEncoded = !key.isEmpty && key.bytes.allSatisfy { (0x21...0x7E).contains($0) }
    return isEncoded ? nil : Failure(.sourceName, "the path of the URL is not percent-encoded")
  }

  func location(ofKey key: NameBytes) -> String {
    place.origin.description + "/" + String(decoding: key.bytes, as: UTF8.self)
  }

  func fileName(ofKey key: NameBytes) -> NameBytes {
    DownloadURL(.web(place.origin, prefix: ""), key: key).name
  }

  func request(
    _ part: GetPart, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    var request = try self.request(.get, facts, context)
    // Otherwise ranges and lengths could refer to an encoding.
    request.fields[.acceptEncoding] = "identity"
    switch part {
    case .beginning(let range):
      request.fields[.wantReprDigest] = "crc32c=10, sha-256=5, sha-512=3"
      request.fields[.range] = range?.field
    case .range(let range, let validator):
      request.fields[.range] = range.field
      // Without it, a server whose file has changed would send a range of another version.
      request.fields[.ifRange] = validator
    case .whole: break
    case .description, .firstPart, .partList: throw Failure(.engineBug, "\(protocolName) asks for no descriptions")
    }
    return request
  }

  /// A request to the current place of the file.
  func request(
    _ method: HTTPRequest.Method, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    let url = facts.route.place ?? location(ofKey: facts.file.key)
    var request = TransferRequest(method: method, url: url, limits: .body)
    let began = facts.route.start.flatMap(WebOrigin.init(url:)) ?? place.origin
    if facts.route.url != nil, WebOrigin(url: url) != began {
      request.addresses = .public(unlessOf: began.description)
    } else if facts.route.start == nil, !facts.route.leftOrigin {
      // A URL from a command contains everything it needs.
      request.fields[.authorization] = try context.credential.authorization
    }
    return request
  }

  func listing(
    _ next: String?, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    throw Failure(.engineBug, "\(protocolName) lists no folders")
  }

  func page(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    .failed(Failure(.engineBug, "\(protocolName) lists no folders"), .permanent)
  }

  func complete(_ version: inout RemoteVersion, _ fields: HTTPFields) {}

  func meaning(of reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation? {
    redirected(reply, facts, context) ?? refusedElsewhere(reply, facts, context)
  }

  func size(behindTheEnd reply: TransferReply) -> Int64? { ContentRange(reply.fields[.contentRange])?.size }
}

extension HTTPField.Name {
  static let wantReprDigest = Self("Want-Repr-Digest")!
}

extension ByteRange {
  /// The value for a `Range` field.
  var field: String { "bytes=\(offset)-\(end - 1)" }
}
