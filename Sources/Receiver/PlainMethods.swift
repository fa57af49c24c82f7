import TransferModel

/// What each method does with a path that belongs to no protocol.
struct PlainMethods {
  let exchange: Exchange

  private static let methods = "OPTIONS, GET, HEAD, PUT, POST, DELETE, MKCOL, PROPFIND"

  func answer() throws(ExchangeEnd) -> Answer {
    if case .length(let length) = exchange.head.framing, let limit = exchange.effect.limit, length > limit {
      throw .refuse(413, "the body is longer than \(limit) bytes")
    }
    if let expect = exchange.head["expect"], expect.lowercased() != "100-continue" {
      throw .refuse(417, "Expect takes only 100-continue")
    }
    if let reserved = Endpoints.reserved(exchange.head.path) { return try Endpoints.answer(exchange, reserved) }
    try exchange.authorize()
    switch exchange.head.method {
    case "PUT": return try ObjectUpload(exchange: exchange).put()
    case "POST": return try ObjectUpload(exchange: exchange).post()
    case "GET" where !exchange.head.query.isEmpty && Query.isListing(exchange.head.query):
      return try FolderListing(exchange: exchange).objects(try Query(exchange.head.query))
    case "GET", "HEAD": return try exchange.get(path())
    case "DELETE": return try delete(path())
    case "PROPFIND": return try FolderListing(exchange: exchange).properties(path())
    case "MKCOL": return try makeCollection(path())
    case "OPTIONS":
      try exchange.drop()
      return Answer(204, fields: [Answer.Field("Allow", Self.methods), Answer.Field("DAV", "1")])
    default: throw .refuse(405, "the method is not supported here", fields: [Answer.Field("Allow", Self.methods)])
    }
  }

  private func path() throws(ExchangeEnd) -> ObjectPath { try ObjectPath(requestPath: exchange.head.path) }

  func delete(_ path: ObjectPath) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    guard let store = exchange.core.store else { throw .refuse(404, "bodies are discarded here") }
    try store.publishing.withLock { count throws(ExchangeEnd) in
      count += 1
      try store.remove(path)
      try exchange.note(.delete)
    }
    return Answer(204)
  }

  func makeCollection(_ path: ObjectPath) throws(ExchangeEnd) -> Answer {
    if !exchange.body.isComplete { throw .refuse(415, "MKCOL with a body is not supported") }
    if let store = exchange.core.store { try store.makeCollection(path) }
    try exchange.note(.makeCollection)
    return Answer(201)
  }
}
