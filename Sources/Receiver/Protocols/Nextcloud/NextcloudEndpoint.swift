import TransferModel

/// A folder of chunks in Nextcloud's chunked upload version 2.
final class NextcloudUpload: UploadSession {
  let protocolName = "nextcloud"
  /// User and folder, as in the URL.
  let id: String
  let parts: PartUpload
  let lock = UploadLock()
  let expiresAtMs = wallMilliseconds() + 86_400_000

  init(_ core: ReceiverCore, _ id: String) throws(ExchangeEnd) {
    self.id = id
    parts = try PartUpload(core)
  }

  func path(_ number: Int64) -> NameBytes { NameBytes("-/nextcloud/\(id)/\(number)") }
}

/// Nextcloud's chunked upload version 2: MKCOL, PUT of numbered chunks, PROPFIND, MOVE of `.file`; and the files
/// themselves.
/// Source: Nextcloud developer manual, "Chunked file upload", version 2.
struct NextcloudEndpoint: Endpoint {
  static let names = ["nextcloud"]
  private static let files = ["-", "nextcloud", "remote.php", "dav", "files"]

  let exchange: Exchange
  let target: EndpointTarget

  func answer() throws(ExchangeEnd) -> Answer {
    try exchange.authorize()
    var words = target.words
    if words.last == "" { words.removeLast() }
    guard words.count >= 5, words[0...1] == ["remote.php", "dav"] else { throw .refuse(404, "no such collection") }
    if words[2] == "files" { return try onFile() }
    guard words[2] == "uploads" else { throw .refuse(404, "no such collection") }
    let id = "\(words[3])/\(words[4])"
    switch (words.count, exchange.head.method) {
    case (5, "MKCOL"): return try open(id)
    case (5, "PROPFIND"): return try list(try known(id), "/-/nextcloud/remote.php/dav/uploads/\(id)")
    case (5, "DELETE"): return try abort(try known(id))
    case (6, "PUT"): return try put(try known(id), words[5])
    case (6, "MOVE") where words[5] == ".file": return try move(try known(id))
    default: throw .refuse(405, "an upload takes MKCOL, PUT of its chunks, PROPFIND, MOVE of .file and DELETE")
    }
  }

  private func onFile() throws(ExchangeEnd) -> Answer {
    let path = try target.objectPath(from: 4)
    exchange.recordedPath = path.bytes
    switch exchange.head.method {
    case "GET", "HEAD": return try exchange.get(path)
    case "PUT": return try exchange.put(at: path)
    case "DELETE": return try exchange.delete(path)
    case "MKCOL": return try exchange.makeCollection(path)
    default: throw .refuse(405, "a file takes GET, HEAD, PUT, DELETE and MKCOL")
    }
  }

  private func known(_ id: String) throws(ExchangeEnd) -> NextcloudUpload {
    guard let upload = try exchange.session(id, NextcloudUpload.self) else { throw .refuse(404, "no such upload") }
    return upload
  }

  private func open(_ id: String) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    let made = try exchange.core.uploads.findOrMake(id) { () throws(ExchangeEnd) in
      try NextcloudUpload(exchange.core, id)
    }
    guard let made else { throw .refuse(404, "no such upload") }
    guard made.isNew else { throw .refuse(405, "the folder exists") }
    try exchange.note(.session("nextcloud", id: id, .opened))
    return Answer(201)
  }

  private func put(_ upload: NextcloudUpload, _ name: String) throws(ExchangeEnd) -> Answer {
    guard let number = wholeNumber(name), (1...10_000).contains(number) else {
      throw .refuse(400, "a chunk has a number from 1 to 10000 as its name")
    }
    exchange.recordedPath = upload.path(number)
    let received = try PartReceiver(exchange: exchange).receive(into: upload.parts, number) { _ in name }
    let tag = objectETag(crc32c: received.part.crc32c, size: received.part.place.length)
    return Answer(received.isNew ? 201 : 204, fields: [Answer.Field("OC-ETag", tag)])
  }

  /// Joins the chunks in the order of their numbers under the name in Destination. The folder is then gone.
  private func move(_ upload: NextcloudUpload) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    let path = try destination()
    let condition: StagedObject.Condition = exchange.head["overwrite"] == "F" ? .createOnly : .replace
    return try exchange.holding(upload.lock, busy: Answer(423)) { () throws(ExchangeEnd) in
      let parts = upload.parts.parts.sorted { $0.key < $1.key }
      let size = parts.reduce(0) { $0 + $1.value.place.length }
      if let announced = exchange.head["oc-total-length"], wholeNumber(announced) != size {
        throw .refuse(400, "the chunks have \(size) bytes, OC-Total-Length says \(announced)")
      }
      let modified = exchange.head["x-oc-mtime"].flatMap(wholeNumber)
      let made = try upload.parts.publish(exchange, parts.map(\.key), at: path, condition, modifiedSeconds: modified)
      guard let made else { throw .refuse(423, "a chunk is being received") }
      try PartReceiver(exchange: exchange)
        .noteJoined(parts.map { (upload.path($0.key), $0.value.place.length) }, in: path)
      try exchange.end(upload, .completed)
      exchange.core.uploads.remove(upload.id, NextcloudUpload.self)
      let tag = objectETag(crc32c: made.crc32c, size: made.size)
      var answer = Answer(made.created ? 201 : 204, fields: [Answer.Field("OC-ETag", tag), Answer.Field("ETag", tag)])
      if modified != nil { answer.fields.append(Answer.Field("X-OC-MTime", "accepted")) }
      return answer
    }
  }

  /// The object that the Destination field names, as a URL or a path of this server.
  private func destination() throws(ExchangeEnd) -> ObjectPath {
    var bytes = Array((exchange.head["destination"] ?? "").utf8)[...]
    if bytes.starts(with: "http://".utf8) || bytes.starts(with: "https://".utf8) {
      bytes = bytes.drop { $0 != 0x2F }.dropFirst(2).drop { $0 != 0x2F }
    }
    let components = bytes.split(separator: 0x2F)
    let words = components.prefix(5).map { String(decoding: $0, as: UTF8.self) }
    guard words == Self.files, components.count > 6 else { throw .refuse(400, "Destination is not a file here") }
    return try ObjectPath(objectAt: components.dropFirst(6).flatMap { [0x2F] + $0 }[...])
  }

  private func abort(_ upload: NextcloudUpload) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    upload.parts.discard()
    try exchange.end(upload, .aborted)
    return Answer(204)
  }

  /// Source: RFC 4918 section 9.1.
  private func list(_ upload: NextcloudUpload, _ folder: String) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    if let count = exchange.effect.regress { upload.parts.regress(by: count) }
    var entries = [Self.entry("\(folder)/", "<d:resourcetype><d:collection/></d:resourcetype>")]
    if exchange.head["depth"] != "0" {
      for (_, part) in upload.parts.parts.sorted(by: { $0.key < $1.key }) {
        let length = "<d:getcontentlength>\(part.place.length)</d:getcontentlength>"
        entries.append(Self.entry("\(folder)/\(part.tag)", "<d:resourcetype/>\(length)"))
      }
    }
    var answer = Answer(207, fields: [Answer.Field("Content-Type", "application/xml; charset=utf-8")])
    let xml = "<?xml version=\"1.0\"?>\n<d:multistatus xmlns:d=\"DAV:\">\(entries.joined())</d:multistatus>\n"
    answer.body = Array(xml.utf8)
    return answer
  }

  private static func entry(_ href: String, _ properties: String) -> String {
    let escaped = href.flatMap { $0 == "&" ? "&amp;" : $0 == "<" ? "&lt;" : $0 == ">" ? "&gt;" : String($0) }
    return "<d:response><d:href>\(String(escaped))</d:href><d:propstat><d:prop>\(properties)</d:prop>"
      + "<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
  }
}
