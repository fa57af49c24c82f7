import TransferModel

/// What each method does.
extension Exchange {
  private static let methods = "OPTIONS, GET, HEAD, PUT, POST, DELETE, MKCOL, PROPFIND"

  func carryOut() throws(ExchangeEnd) -> Answer {
    if case .length(let length) = head.framing, let limit = effect.limit, length > limit {
      throw .refuse(413, "the body is longer than \(limit) bytes")
    }
    if let expect = head["expect"], expect.lowercased() != "100-continue" {
      throw .refuse(417, "Expect takes only 100-continue")
    }
    if let reserved = Endpoints.reserved(head.path) { return try Endpoints.answer(self, reserved) }
    try authorize()
    switch head.method {
    case "PUT": return try put()
    case "POST": return try post()
    case "GET" where !head.query.isEmpty && Query.isListing(head.query): return try listObjects(try Query(head.query))
    case "GET", "HEAD": return try get(try ObjectPath(requestPath: head.path))
    case "DELETE": return try delete(try ObjectPath(requestPath: head.path))
    case "PROPFIND": return try properties(try ObjectPath(requestPath: head.path))
    case "MKCOL": return try makeCollection(try ObjectPath(requestPath: head.path))
    case "OPTIONS":
      try drop()
      return Answer(204, fields: [Answer.Field("Allow", Self.methods), Answer.Field("DAV", "1")])
    default: throw .refuse(405, "the method is not supported here", fields: [Answer.Field("Allow", Self.methods)])
    }
  }

  func delete(_ path: ObjectPath) throws(ExchangeEnd) -> Answer {
    try drop()
    guard let store = core.store else { throw .refuse(404, "bodies are discarded here") }
    try store.publishing.withLock { count throws(ExchangeEnd) in
      count += 1
      try store.remove(path)
      try note(.delete)
    }
    return Answer(204)
  }

  func makeCollection(_ path: ObjectPath) throws(ExchangeEnd) -> Answer {
    if !body.isComplete { throw .refuse(415, "MKCOL with a body is not supported") }
    if let store = core.store { try store.makeCollection(path) }
    try note(.makeCollection)
    return Answer(201)
  }

  /// Refuses with 401 unless the request brings a credential that this receiver requires.
  func authorize() throws(ExchangeEnd) {
    let settings = core.settings
    if settings.basicCredential == nil && settings.bearerToken == nil { return }
    var expected: [String] = []
    if let basic = settings.basicCredential { expected.append("Basic \(base64(Array(basic.utf8)))") }
    if let token = settings.bearerToken { expected.append("Bearer \(token)") }
    let given = Array((head["authorization"] ?? "").utf8)
    if expected.contains(where: { isEqualInConstantTime(Array($0.utf8), given) }) { return }
    let challenge = settings.basicCredential == nil ? "Bearer" : "Basic realm=\"receiver\", charset=\"UTF-8\""
    throw .refuse(
      401, given.isEmpty ? "a credential is required" : "the credential is wrong",
      fields: [Answer.Field("WWW-Authenticate", challenge)])
  }
}

/// Compares in constant time, so that the duration does not reveal where the difference is.
func isEqualInConstantTime(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  a.count == b.count && zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}
