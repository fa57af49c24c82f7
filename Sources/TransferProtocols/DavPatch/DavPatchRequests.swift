import HTTPTypes
import TransferModel

extension DavPatchProtocol {
  static let bodyType = "application/x-sabredav-partialupdate"

  package func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    var fields = HTTPFields()
    fields[.authorization] = try context.credential.authorization
    let key = facts.file.key
    switch step {
    case .discover:
      let url = place.collectionURL(key, depth: WebPlace.parentCount(ofKey: key))
      return TransferRequest(method: .options, url: url, fields: fields)
    case .makeParent(let depth): return place.makeCollection(key, depth: depth, fields)
    case .create: return create(try temporary(facts), facts.file, fields)
    case .chunk(let chunk): return patch(try temporary(facts), chunk, fields)
    case .probe: return TransferRequest(method: .head, url: try temporary(facts), fields: fields)
    case .verify:
      let isMoved = facts.session?.notes[Note.moved] != nil
      fields[Self.field("want-repr-digest")] = "crc32c=10"
      return TransferRequest(method: .head, url: isMoved ? place.url(key) : try temporary(facts), fields: fields)
    case .finish: return move(try temporary(facts), key, fields)
    case .abort(let url): return TransferRequest(method: .delete, url: url, fields: fields)
    case .prepareChunk, .probeChunk, .save:
      throw Failure(.engineBug, "davpatch has no request for \(step.operation)")
    }
  }

  private func temporary(_ facts: TransferFacts) throws(Failure) -> String {
    guard let url = facts.session?.remoteID else { throw Failure(.engineBug, "the temporary object has no URL yet") }
    return url
  }

  /// `If-None-Match` prevents a late request from emptying the object after bytes were sent.
  private func create(_ url: String, _ file: FileFacts, _ fields: HTTPFields) -> TransferRequest {
    var fields = fields
    fields[.contentType] = mediaType.type(of: file)
    fields.add(file.properties)
    fields[.ifNoneMatch] = "*"
    return TransferRequest(method: .put, url: url, fields: fields, body: .bytes([]))
  }

  /// Names the position, not `append`: a repeated body writes the same bytes.
  private func patch(_ url: String, _ chunk: ChunkFacts, _ fields: HTTPFields) -> TransferRequest {
    var fields = fields
    fields[.contentType] = Self.bodyType
    fields[Self.field("x-update-range")] = "bytes=\(chunk.body.offset)-\(chunk.body.end - 1)"
    if expectContinue { fields[.expect] = "100-continue" }
    return TransferRequest(method: .patch, url: url, fields: fields, limits: .body)
  }

  /// Servers that check `If-Match` (sabre/dav from version 2 on does for every method) do nothing if the temporary
  /// object is gone.
  private func move(_ url: String, _ key: NameBytes, _ fields: HTTPFields) -> TransferRequest {
    var fields = fields
    fields[Self.field("destination")] = place.url(key)
    fields[Self.field("overwrite")] = ifNoneMatch ? "F" : "T"
    fields[.ifMatch] = "*"
    return TransferRequest(method: HTTPRequest.Method("MOVE")!, url: url, fields: fields, limits: .finish)
  }

  private static func field(_ name: String) -> HTTPField.Name { HTTPField.Name(name)! }
}
