import HTTPTypes
public import TransferModel

extension GetProtocol {
  public func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    var fields = HTTPFields()
    fields[.authorization] = try context.credential.authorization
    let url = url(facts.file.key)
    switch step {
    case .create: return TransferRequest(method: .head, url: url, fields: fields)
    case .chunk(let chunk):
      if chunk.isPart(of: facts) {
        fields[.range] = "bytes=\(chunk.body.offset)-\(chunk.body.end - 1)"
        // Without it a server whose file has changed sends a range of another version.
        fields[.ifRange] = RemoteVersion(facts.session)?.etag
      }
      return TransferRequest(method: .get, url: url, fields: fields, limits: .body)
    case .probe, .prepareChunk, .probeChunk, .discover, .finish, .save, .verify, .abort, .makeParent:
      throw Failure(.engineBug, "\(name) has no request for \(step.operation)")
    }
  }
}

extension ChunkFacts {
  /// The request asks for a range, not for the whole file.
  func isPart(of facts: TransferFacts) -> Bool { body.length < facts.layout.size }
}
