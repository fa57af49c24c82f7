import TransferModel

/// An upload session of Microsoft Graph. Mutable state is used under the lock of `body`.
final class GraphUpload: UploadSession, @unchecked Sendable {
  enum Conflict: String {
    case replace, fail, rename
  }

  let protocolName = "graph"
  let id = randomID()
  let body: AppendUpload
  let path: ObjectPath
  let conflict: Conflict
  let expiresAtMs = wallMilliseconds() + 86_400_000
  /// Known with the first fragment.
  var total: Int64?

  init(_ body: AppendUpload, _ path: ObjectPath, _ conflict: Conflict) {
    (self.body, self.path, self.conflict) = (body, path, conflict)
  }
}

/// Upload sessions of OneDrive: `createUploadSession`, then fragments in order to a URL that needs no credential.
/// Source: Microsoft Graph, "driveItem: createUploadSession".
struct GraphEndpoint: Endpoint {
  static let names = ["graph", "graph-uploads"]
  private static let unit: Int64 = 320 << 10
  private static let fragmentLimit: Int64 = 60 << 20

  let exchange: Exchange
  let target: EndpointTarget

  func answer() throws(ExchangeEnd) -> Answer {
    if target.name == "graph-uploads" { return try onUpload() }
    try exchange.authorize()
    if exchange.head.method == "GET" { return try item() }
    guard exchange.head.method == "POST", let path = try itemPath() else { throw Self.refusal(404, "itemNotFound") }
    let json = JSON(try exchange.smallBody())
    let asked = json?["item"]?["@microsoft.graph.conflictBehavior"]?.text ?? "replace"
    guard let conflict = GraphUpload.Conflict(rawValue: asked) else { throw Self.refusal(400, "invalidRequest") }
    let upload = GraphUpload(try AppendUpload(exchange.core), path, conflict)
    exchange.recordedPath = path.bytes
    try exchange.open(upload)
    let url = exchange.effect.token ?? exchange.url("/-/graph-uploads/\(upload.id)")
    return Answer(200, json: status(upload).adding("uploadUrl", .text(url)))
  }

  /// `drives/D/items/P:/NAME:/createUploadSession`; nil for other paths.
  private func itemPath() throws(ExchangeEnd) -> ObjectPath? {
    let words = target.words
    guard words.count >= 6, words[0] == "drives", words[2] == "items", words[3].hasSuffix(":"),
      words.last == "createUploadSession", words[words.count - 2].hasSuffix(":")
    else { return nil }
    var name = target
    name.rest = Array(target.rest[4..<(words.count - 1)])
    name.rest[name.rest.count - 1] = name.rest.last!.dropLast()
    return try name.objectPath(from: 0)
  }

  private func onUpload() throws(ExchangeEnd) -> Answer {
    if exchange.head["authorization"] != nil { throw Self.refusal(401, "unauthenticated") }
    guard target.rest.count == 1, let upload = try exchange.session(target.words[0], GraphUpload.self),
      upload.expiresAtMs > wallMilliseconds()
    else { throw Self.refusal(404, "itemNotFound") }
    exchange.recordedPath = upload.path.bytes
    return try exchange.holding(upload.body.lock, busy: Answer(423)) { () throws(ExchangeEnd) in
      switch exchange.head.method {
      case "PUT": return try put(upload)
      case "GET":
        try exchange.drop()
        try regress(upload)
        return Answer(200, json: status(upload))
      case "DELETE":
        try exchange.drop()
        upload.body.discard()
        try end(upload, .aborted)
        return Answer(204)
      default: throw Self.refusal(405, "invalidRequest")
      }
    }
  }

  private func put(_ upload: GraphUpload) throws(ExchangeEnd) -> Answer {
    guard let sent = ContentRange(exchange.head["content-range"] ?? ""), let range = sent.range, let total = sent.total,
      exchange.head.framing == .length(range.length), upload.total ?? total == total,
      range.end == total || range.length % Self.unit == 0
    else { throw Self.refusal(400, "invalidRequest") }
    if range.length > Self.fragmentLimit { throw Self.refusal(413, "fragmentTooLarge") }
    if range.offset != upload.body.offset { throw Self.refusal(416, "invalidRange") }
    upload.total = total
    try exchange.invite()
    try upload.body.append(exchange, upTo: total, keeping: .nothing)
    try regress(upload)
    guard upload.body.offset == total else { return Answer(202, json: status(upload)) }
    return try publish(upload)
  }

  private func publish(_ upload: GraphUpload) throws(ExchangeEnd) -> Answer {
    var (path, attempt) = (upload.path, 1)
    while true {
      do throws(ExchangeEnd) {
        let hash = try upload.body.quickXor()
        let created = try upload.body.publish(
          exchange, at: path, upload.conflict == .replace ? .replace : .createOnly)
        try end(upload, .completed)
        exchange.core.uploads.add(GraphItem(path, size: upload.body.offset, hash), as: path.bytes.description)
        let json = exchange.receipt(path, size: upload.body.offset, crc32c: upload.body.crc32c)
        let name = String(decoding: path.components.last!.bytes, as: UTF8.self)
        return Answer(created ? 201 : 200, json: json.adding("id", .text(upload.id)).adding("name", .text(name)))
      } catch {
        guard case .refuse(let answer) = error, answer.status == 412 else { throw error }
        if upload.conflict == .fail { throw Self.refusal(409, "nameAlreadyExists") }
        path = upload.path.renamed(attempt)
        attempt += 1
      }
    }
  }

  /// Its URL becomes unknown, however the session ended.
  private func end(_ upload: GraphUpload, _ state: ReceiverEvent.SessionState) throws(ExchangeEnd) {
    try exchange.end(upload, state)
    exchange.core.uploads.remove(upload.id, GraphUpload.self)
  }

  private func regress(_ upload: GraphUpload) throws(ExchangeEnd) {
    if let count = exchange.effect.regress { try upload.body.regress(by: count) }
  }

  private func status(_ upload: GraphUpload) -> JSON {
    let next = exchange.effect.isOffsetPastEnd ? (upload.total ?? upload.body.offset) + 1 : upload.body.offset
    return [
      "expirationDateTime": .text(CivilTime(wallMs: upload.expiresAtMs).rfc3339Text),
      "nextExpectedRanges": .array([.text("\(next)-")]),
    ]
  }

  private static func refusal(_ status: Int, _ code: String) -> ExchangeEnd {
    .refuse(Answer(status, json: ["error": ["code": .text(code), "message": .text(code)]]))
  }
}

extension ObjectPath {
  /// The name with a number before its extension, as OneDrive renames files.
  fileprivate func renamed(_ number: Int) -> ObjectPath {
    var path = self
    let name = path.components.removeLast().bytes
    let dot = name.lastIndex(of: 0x2E) ?? name.endIndex
    path.components.append(NameBytes(name[..<dot] + Array(" \(number)".utf8) + name[dot...]))
    return path
  }
}
