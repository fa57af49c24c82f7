import HTTPTypes
import TransferModel

/// Writes the requests that a profile describes.
struct ProfileRequest {
  let proto: ProfileProtocol

  func request(
    for step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    guard let (name, described) = proto.described(step) else {
      throw Failure(
        .protoUnsupported, "the profile \"\(proto.profile.name)\" has no step to \(step.operation.rawValue)")
    }
    let scope = proto.values.scope(step, facts, context)
    let source = source(name, described, facts)
    do throws(RenderFault) {
      let rendered = try RenderedRequest(source, of: proto.profile, scope, uid: facts.file.uid)
      let namedBy = try proto.trust.trust(rendered, source, scope)
      var request = try transferRequest(rendered, name, described)
      if namedBy == .server { request.addresses = .public(unlessOf: proto.origin.description) }
      return request
    } catch {
      var failure = error.failure
      failure.message = "the step \(name?.rawValue ?? "auth.refresh") of the profile cannot be sent: \(failure.message)"
      throw failure
    }
  }

  /// A polling step uses the request of its `poll`, if there is one.
  private func source(_ name: StepName?, _ step: ProfileStep, _ facts: TransferFacts) -> RenderedRequest.Source {
    if let name, let poll = step.poll?.request, SessionNotes(facts.session?.notes ?? [:]).pollsSinceMs(name) != nil {
      return RenderedRequest.Source(
        method: poll.method, url: poll.url, query: poll.query, headers: poll.headers, usesAuth: poll.usesAuth)
    }
    return RenderedRequest.Source(
      method: step.method, url: step.url, query: step.query, headers: step.headers, usesAuth: step.usesAuth,
      body: step.body)
  }

  private func transferRequest(
    _ rendered: RenderedRequest, _ name: StepName?, _ step: ProfileStep
  ) throws(RenderFault) -> TransferRequest {
    var fields = HTTPFields()
    for header in rendered.headers {
      guard let name = HTTPField.Name(header.name) else { throw RenderFault(.value, "\(header.name) is not a header") }
      fields.append(HTTPField(name: name, value: header.value))
    }
    if step.expect == .on { fields[.expect] = "100-continue" }
    guard let method = HTTPRequest.Method(rendered.method) else {
      throw RenderFault(.value, "\(rendered.method) is not a method")
    }
    var request = TransferRequest(method: method, url: rendered.url, fields: fields, limits: limits(name, step))
    switch rendered.body {
    case .none: break
    case .bytes(let bytes): request.body = .bytes(bytes)
    case .envelope(let prefix, let suffix):
      if !prefix.isEmpty || !suffix.isEmpty { request.envelope = BodyEnvelope(prefix: prefix, suffix: suffix) }
    }
    return request
  }

  private func limits(_ name: StepName?, _ step: ProfileStep) -> RequestLimits {
    var limits: RequestLimits =
      name == .chunk
      ? proto.unrepeatable.contains(.part) ? .bodyOnce : .body
      : name == .complete || name == .commit ? .finish : .control
    limits.connectMs = step.timeout.connectMs ?? limits.connectMs
    limits.stallMs = step.timeout.idleMs ?? limits.stallMs
    limits.totalMs = step.timeout.totalMs ?? limits.totalMs
    return limits
  }
}
