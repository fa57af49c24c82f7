import HTTPTypes
import TransferModel

extension FormProtocol {
  package func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    guard case .chunk = step else { throw Failure(.engineBug, "form has no request for \(step.operation)") }
    let frame = frame(facts.file)
    var fields = HTTPFields()
    fields[.authorization] = try context.credential.authorization
    fields[.contentType] = frame.contentType
    fields.add(facts.file.properties)
    if expectContinue { fields[.expect] = "100-continue" }
    var request = TransferRequest(method: .post, url: place.url(facts.file.key), fields: fields, limits: .bodyOnce)
    request.envelope = BodyEnvelope(prefix: frame.prefix, suffix: frame.suffix)
    return request
  }

  /// All fields come before the file, because some servers stop reading after it.
  private func frame(_ file: FileFacts) -> Multipart {
    var frame = Multipart(uid: file.uid)
    for field in fields { frame.add(name: Array(field.name.utf8), value: field.filled(file.key)) }
    frame.addFile(
      name: Array(fileField.utf8), filename: file.key.lastComponent.bytes,
      type: Array(mediaType.type(of: file).utf8))
    return frame
  }

  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard case .chunk(let chunk) = step else {
      return .failed(Failure(.engineBug, "form has no request for \(step.operation)"), .permanent)
    }
    return BodyInterpreter(isRepeatable: false, accepts202: answers.accepts202, readsDigest: false).interpret(
      reply, chunk, facts, context)
  }
}
