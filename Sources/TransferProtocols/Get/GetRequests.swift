import HTTPTypes
public import TransferModel

extension GetProtocol {
  public func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    let url = facts.route.url ?? self.url(facts.file.key)
    var request = TransferRequest(method: .get, url: url, limits: .body)
    if facts.route.url == nil || WebOrigin(url: url) == place.origin {
      request.fields[.authorization] = try context.credential.authorization
    } else {
      request.addresses = .public(unlessOf: place.origin.description)
    }
    // Ranges and lengths of anything else would be those of the coding.
    request.fields[.acceptEncoding] = "identity"
    switch step {
    case .create:
      request.fields[.wantReprDigest] = "crc32c=10, sha-256=5"
      if !context.learned.refusesRanges { request.fields[.range] = Self.field(beginning) }
    case .chunk(let chunk):
      if chunk.isPart(of: facts) {
        request.fields[.range] = Self.field(chunk.body)
        // Without it a server whose file has changed sends a range of another version.
        guard let validator = RemoteVersion(facts.session)?.validator else {
          throw Failure(.engineBug, "a range was to be asked for without a validator")
        }
        request.fields[.ifRange] = validator
      }
    case .probe, .prepareChunk, .probeChunk, .discover, .finish, .save, .verify, .abort, .makeParent:
      throw Failure(.engineBug, "\(name) has no request for \(step.operation)")
    }
    return request
  }

  private static func field(_ range: ByteRange) -> String { "bytes=\(range.offset)-\(range.end - 1)" }
}

extension HTTPField.Name {
  static let wantReprDigest = Self("Want-Repr-Digest")!
}

extension ChunkFacts {
  /// The request asks for a range, not for the whole file.
  func isPart(of facts: TransferFacts) -> Bool { body.length < facts.layout.size }
}
