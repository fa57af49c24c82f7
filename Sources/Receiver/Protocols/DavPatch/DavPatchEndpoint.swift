import TransferModel

/// WebDAV whose objects accept bytes by PATCH: `/-/davpatch/PATH` is the object `PATH`.
///
/// An empty PUT to a free name makes a temporary object (``DavPatchUpload``): it takes PATCH, shows its length to HEAD,
/// and becomes an object by MOVE. Everything else is an object immediately, and takes no PATCH.
/// Sources: sabre.io/dav/http-patch; RFC 4918 section 9.9 (MOVE).
struct DavPatchEndpoint: Endpoint {
  static let names = ["davpatch"]
  static let bodyType = "application/x-sabredav-partialupdate"
  private static let methods = "OPTIONS, GET, HEAD, PUT, PATCH, MOVE, DELETE, MKCOL"

  let exchange: Exchange
  let target: EndpointTarget

  var head: RequestHead { exchange.head }

  func answer() throws(ExchangeEnd) -> Answer {
    try exchange.authorize()
    switch head.method {
    case "OPTIONS":
      try exchange.drop()
      let features = Answer.Field("DAV", "1, sabredav-partialupdate")
      return Answer(204, fields: [Answer.Field("Allow", Self.methods), features])
    case "MKCOL": return try exchange.makeCollection(try collection())
    default: return try onObject(try target.objectPath(from: 0))
    }
  }

  private func collection() throws(ExchangeEnd) -> ObjectPath {
    let path = target.rest.flatMap { [0x2F] + $0 }
    return try ObjectPath(requestPath: path.isEmpty ? [0x2F] : path[...])
  }

  private func onObject(_ path: ObjectPath) throws(ExchangeEnd) -> Answer {
    exchange.recordedPath = path.bytes
    guard let upload = try exchange.session(path.encoded, DavPatchUpload.self) else { return try onPlain(path) }
    exchange.recordedPath = upload.recordedPath
    return try exchange.holding(upload.lock, busy: Answer(423)) { () throws(ExchangeEnd) in
      if upload.isEnded { throw .refuse(404, "nothing is stored there") }
      switch head.method {
      case "HEAD": return try look(at: upload)
      case "PUT": return try put(upload)
      case "PATCH": return try patch(upload)
      case "MOVE": return try move(upload)
      case "DELETE": return try abort(upload)
      default: throw refusal("a temporary object takes HEAD, PATCH, MOVE and DELETE")
      }
    }
  }

  /// A request for a path that has no temporary object.
  private func onPlain(_ path: ObjectPath) throws(ExchangeEnd) -> Answer {
    switch head.method {
    case "GET", "HEAD": return announced(try exchange.get(path))
    case "PUT": return try put(at: path)
    case "DELETE": return try exchange.delete(path)
    case "PATCH":
      try exchange.drop()
      if try exchange.core.store?.status(of: path) != nil {
        throw .refuse(403, "only an object made by an empty PUT to a free name takes PATCH")
      }
      throw .refuse(404, "nothing is stored there")
    case "MOVE": return try moveNothing()
    default: throw refusal("an object takes GET, HEAD, PUT, PATCH, MOVE, DELETE and MKCOL")
    }
  }

  private func refusal(_ text: String) -> ExchangeEnd {
    .refuse(405, text, fields: [Answer.Field("Allow", Self.methods)])
  }

  // MARK: - Bytes

  /// An empty PUT to a free name makes a temporary object.
  private func put(at path: ObjectPath) throws(ExchangeEnd) -> Answer {
    guard head.framing == .length(0), try exchange.core.store?.status(of: path) == nil else {
      return try exchange.put(at: path)
    }
    try exchange.checkParents(of: path)
    let upload = try DavPatchUpload(exchange.core, path)
    exchange.recordedPath = upload.recordedPath
    try exchange.drop()
    try exchange.open(upload)
    return Answer(201)
  }

  private func put(_ upload: DavPatchUpload) throws(ExchangeEnd) -> Answer {
    if head["if-none-match"] != nil { throw .refuse(412, "the name is taken") }
    guard head.framing == .length(0) else { throw .refuse(409, "a temporary object takes its bytes by PATCH") }
    try exchange.drop()
    try upload.empty()
    return Answer(204)
  }

  private func patch(_ upload: DavPatchUpload) throws(ExchangeEnd) -> Answer {
    guard let field = head["x-update-range"] else { throw .refuse(400, "X-Update-Range is missing") }
    guard head["content-type"]?.lowercased() == Self.bodyType else {
      throw .refuse(415, "Content-Type has to be \(Self.bodyType)")
    }
    guard case .length(let length) = head.framing, length > 0 else { throw .refuse(411, "Content-Length is missing") }
    let start = try UpdateRange.start(field, length: length, size: upload.length)
    guard length <= exchange.core.settings.maxBody - start else { throw .refuse(413, "the object would be too long") }
    try exchange.invite()
    try upload.patch(exchange, at: start)
    if let count = exchange.effect.regress { try upload.regress(by: count) }
    return Answer(204, fields: try tags(upload))
  }

  private func look(at upload: DavPatchUpload) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    if let count = exchange.effect.regress { try upload.regress(by: count) }
    let type = Answer.Field("Content-Type", "application/octet-stream")
    var answer = Answer(200, fields: [type] + (try tags(upload)))
    answer.announcedLength = exchange.effect.forgetsOffset ? 0 : upload.length
    return announced(answer)
  }

  private func tags(_ upload: DavPatchUpload) throws(ExchangeEnd) -> [Answer.Field] {
    let tag = try upload.etag().map { Answer.Field("ETag", $0) }
    let digest = try upload.crc32c().map { Answer.Field("Repr-Digest", reprDigest($0)) }
    return [tag, digest].compactMap { $0 }
  }

  /// The answer with the length that the script sets.
  private func announced(_ answer: Answer) -> Answer {
    guard head.method == "HEAD", exchange.effect.isOffsetPastEnd else { return answer }
    var answer = answer
    answer.announcedLength = answer.contentLength + 1 << 40
    return answer
  }

  private func abort(_ upload: DavPatchUpload) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    upload.discard()
    try exchange.end(upload, .aborted)
    return Answer(204)
  }

  // MARK: - The name

  private func move(_ upload: DavPatchUpload) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    if let match = head["if-match"], match != "*", match != (try upload.etag()) {
      throw .refuse(412, "If-Match failed")
    }
    let path = try destination()
    if exchange.core.uploads.find(path.encoded, DavPatchUpload.self) != nil {
      throw .refuse(403, "Destination is a temporary object")
    }
    let created = try upload.publish(exchange, at: path, try overwrites() ? .replace : .createOnly)
    let whole = ByteRange(offset: 0, length: upload.length)
    try exchange.note(.joined(from: upload.recordedPath, whole), of: path)
    try exchange.end(upload, .completed)
    exchange.core.uploads.remove(upload.id, DavPatchUpload.self)
    return Answer(created ? 201 : 204)
  }

  /// Removes the object that is to be replaced before it finds that there is nothing to move, as sabre/dav does (seen
  /// with 1.8.12, which does not check If-Match here): a client that repeats a MOVE without querying first loses its
  /// file.
  private func moveNothing() throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    let path = try destination()
    if let store = exchange.core.store, let found = try store.status(of: path), !found.isDirectory {
      guard try overwrites() else { throw .refuse(412, "the name is taken") }
      try store.publishing.withLock { count throws(ExchangeEnd) in
        count += 1
        try store.remove(path)
        try exchange.note(.delete, of: path)
      }
    }
    throw .refuse(404, "nothing is stored there")
  }

  private func overwrites() throws(ExchangeEnd) -> Bool {
    switch head["overwrite"] ?? "T" {
    case "T", "t": return true
    case "F", "f": return false
    default: throw .refuse(400, "Overwrite is T or F")
    }
  }

  /// The object that the Destination field names, as a URL or a path of this server.
  private func destination() throws(ExchangeEnd) -> ObjectPath {
    var bytes = Array((head["destination"] ?? "").utf8)[...]
    if bytes.starts(with: "http://".utf8) || bytes.starts(with: "https://".utf8) {
      bytes = bytes.drop { $0 != 0x2F }.dropFirst(2).drop { $0 != 0x2F }
    }
    guard let reserved = Endpoints.reserved(bytes), reserved.starts(with: "davpatch/".utf8) else {
      throw .refuse(400, "the Destination field does not name an object of this server")
    }
    return try ObjectPath(objectAt: reserved.dropFirst("davpatch".utf8.count))
  }
}
