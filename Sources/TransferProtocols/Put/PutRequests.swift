import HTTPTypes
import TransferModel

extension PutProtocol {
  package func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    var fields = HTTPFields()
    fields[.authorization] = try context.credential.authorization
    switch step {
    case .chunk: return send(facts, fields)
    case .makeParent(let depth): return place.makeCollection(facts.file.key, depth: depth, fields)
    case .create, .probe, .prepareChunk, .probeChunk, .discover, .finish, .save, .verify, .abort:
      throw Failure(.engineBug, "\(name) has no request for \(step.operation)")
    }
  }

  private func send(_ facts: TransferFacts, _ fields: HTTPFields) -> TransferRequest {
    var fields = fields
    fields[.contentType] = mediaType.type(of: facts.file)
    fields.add(facts.file.properties)
    fields[HTTPField.Name("want-repr-digest")!] = "crc32c=10"
    if ifNoneMatch { fields[.ifNoneMatch] = "*" }
    if expectContinue { fields[.expect] = "100-continue" }
    return TransferRequest(
      method: method == .post ? .post : .put, url: place.url(facts.file.key), fields: fields,
      limits: method == .post ? .bodyOnce : .body)
  }
}
