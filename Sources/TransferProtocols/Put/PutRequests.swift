import HTTPTypes
public import TransferModel

extension PutProtocol {
  public func request(
    _ step: StepRequest, _ facts: UploadFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    var fields = HTTPFields()
    fields[.authorization] = try Self.authorization(context.credential)
    switch step {
    case .chunk: return send(facts, fields)
    case .makeParent(let depth):
      return TransferRequest(
        method: HTTPRequest.Method("MKCOL")!, url: collectionURL(facts.file.key, depth), fields: fields)
    case .create, .probe, .prepareChunk, .probeChunk, .discover, .finish, .save, .verify, .abort:
      throw Failure(.engineBug, "\(name) has no request for \(step.operation)")
    }
  }

  private func send(_ facts: UploadFacts, _ fields: HTTPFields) -> TransferRequest {
    var fields = fields
    fields[.contentType] = "application/octet-stream"
    fields[HTTPField.Name("want-repr-digest")!] = "crc32c=10"
    if ifNoneMatch { fields[.ifNoneMatch] = "*" }
    if expectContinue { fields[.expect] = "100-continue" }
    return TransferRequest(
      method: place.method == .post ? .post : .put, url: place.url(facts.file.key), fields: fields, limits: .body,
      // libcurl repeats a request silently when a used connection died: a POST would be stored twice.
      needsFreshConnection: place.method == .post)
  }

  /// The URL of the collection with the first `depth` components of the key.
  private func collectionURL(_ key: NameBytes, _ depth: Int) -> String {
    let components = key.bytes.split(separator: 0x2F, omittingEmptySubsequences: false).prefix(depth)
    return place.origin.description + "/" + components.map { PercentEncoding.component($0) + "/" }.joined()
  }

  /// Nothing in a credential can end the field or begin another one.
  private static func authorization(_ credential: Credential?) throws(Failure) -> String? {
    switch credential {
    case nil: return nil
    case .basic(let user, let password):
      guard !user.utf8.contains(0x3A), (user + password).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
        throw Failure(.authMissing, "the user name holds a colon, or the user name or password a control character")
      }
      return "Basic " + base64(Array("\(user):\(password)".utf8))
    case .bearer(let token):
      guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw Failure(.authMissing, "the bearer token is empty or holds characters that a header field cannot carry")
      }
      return "Bearer " + token
    case .aws, .inputs: throw Failure(.authMissing, "this kind of credential is of no use here; pass --auth")
    }
  }
}
