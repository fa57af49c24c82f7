import TransferModel

/// A session of Google's resumable upload. Mutable state is used under the lock of `body`.
final class GoogleUpload: UploadSession, @unchecked Sendable {
  let protocolName = "google"
  let id = randomID()
  let body: AppendUpload
  let path: ObjectPath
  let expiresAtMs = wallMilliseconds() + 7 * 86_400_000
  /// nil until the client has stated it.
  var total: Int64?
  var isPublished = false

  init(_ body: AppendUpload, _ path: ObjectPath, total: Int64?) {
    (self.body, self.path, self.total) = (body, path, total)
  }
}

/// Google's resumable upload (Cloud Storage, Drive, YouTube): `POST /-/google/upload/NAME`, or with `?name=` or a name
/// in the metadata, opens a session; PUT with Content-Range to `/-/google-uploads/ID` sends bytes and queries. Source:
/// Cloud Storage, "Resumable uploads".
struct GoogleEndpoint: Endpoint {
  static let names = ["google", "google-uploads"]
  private static let unit: Int64 = 256 << 10

  let exchange: Exchange
  let target: EndpointTarget

  func answer() throws(ExchangeEnd) -> Answer {
    if target.name == "google-uploads" { return try onUpload() }
    try exchange.authorize()
    guard exchange.head.method == "POST", target.words.first == "upload" else { throw .refuse(404, "POST upload/NAME") }
    let metadata = JSON(try exchange.smallBody())
    let name = target.query.bytes("name") ?? metadata?["name"]?.text.map { Array($0.utf8) }
    let path = try name == nil ? target.objectPath(from: 1) : ObjectPath(name: name!)
    exchange.recordedPath = path.bytes
    let total = exchange.head["x-upload-content-length"].flatMap { wholeNumber($0) }
    let upload = GoogleUpload(try AppendUpload(exchange.core), path, total: total)
    try exchange.open(upload)
    return Answer(200, fields: [Answer.Field("Location", exchange.url("/-/google-uploads/\(upload.id)"))])
  }

  /// The URL of a session is a secret that serves as a credential.
  private func onUpload() throws(ExchangeEnd) -> Answer {
    guard target.rest.count == 1, let upload = try exchange.session(target.words[0], GoogleUpload.self),
      upload.expiresAtMs > wallMilliseconds()
    else { throw .refuse(404, "the session is not known") }
    exchange.recordedPath = upload.path.bytes
    return try exchange.holding(upload.body.lock, busy: Answer(503)) { () throws(ExchangeEnd) in
      switch exchange.head.method {
      case "PUT": return try put(upload)
      case "DELETE":
        try exchange.drop()
        upload.body.discard()
        try exchange.end(upload, .aborted)
        return Answer(499)
      default: throw .refuse(405, "a session takes PUT and DELETE")
      }
    }
  }

  private func put(_ upload: GoogleUpload) throws(ExchangeEnd) -> Answer {
    if upload.isPublished {
      try exchange.drop()
      return resource(upload)
    }
    let sent = try sent(upload)
    if let total = sent.total {
      guard upload.total ?? total == total, total >= upload.body.offset else { throw Self.refusal("the size changed") }
      upload.total = total
    }
    if let range = sent.range {
      try take(range, upload)
    } else {
      try exchange.drop()
    }
    if let count = exchange.effect.regress { try upload.body.regress(by: count) }
    guard upload.body.offset == upload.total else { return incomplete(upload) }
    _ = try upload.body.publish(exchange, at: upload.path)
    upload.isPublished = true
    try exchange.end(upload, .completed)
    return resource(upload)
  }

  /// The range of the body. Without Content-Range it is the whole object.
  private func sent(_ upload: GoogleUpload) throws(ExchangeEnd) -> ContentRange {
    guard let field = exchange.head["content-range"] else {
      guard case .length(let length) = exchange.head.framing else { throw .refuse(411, "send Content-Length") }
      let end = length == 0 ? "*/0" : "0-\(length - 1)/\(length)"
      return ContentRange("bytes \(end)")!
    }
    guard let sent = ContentRange(field) else { throw Self.refusal("Content-Range is malformed") }
    if let range = sent.range {
      guard exchange.head.framing == .length(range.length) else { throw Self.refusal("the body has another length") }
      guard range.end == sent.total || range.length % Self.unit == 0 else {
        throw Self.refusal("all chunks but the last are multiples of 256 KiB")
      }
    } else if exchange.hasBody {
      throw Self.refusal("a query has no body")
    }
    return sent
  }

  /// Bytes that are stored already are skipped; of an interrupted body, complete units are kept.
  private func take(_ range: ByteRange, _ upload: GoogleUpload) throws(ExchangeEnd) {
    let known = upload.body.offset - range.offset
    guard known >= 0 else { throw Self.refusal("bytes are missing before this chunk") }
    try exchange.invite()
    try upload.body.append(
      exchange, upTo: max(range.end, upload.body.offset), keeping: .multiple(of: Self.unit),
      known: min(known, range.length))
  }

  private func incomplete(_ upload: GoogleUpload) -> Answer {
    let past = exchange.effect.isOffsetPastEnd ? (upload.total ?? upload.body.offset) + 1 : upload.body.offset
    let fields = past == 0 ? [] : [Answer.Field("Range", "bytes=0-\(past - 1)")]
    guard exchange.head["x-guploader-no-308"] == "yes" else { return Answer(308, fields: fields) }
    return Answer(200, fields: fields + [Answer.Field("X-HTTP-Status-Code-Override", "308")])
  }

  /// The object as Cloud Storage describes it: numbers as text, the checksum in base64.
  private func resource(_ upload: GoogleUpload) -> Answer {
    let crc32c = upload.body.crc32c.map { exchange.effect.ending == .wrongDigest ? ~$0 : $0 }
    return Answer(
      200,
      json: [
        "kind": "storage#object", "name": .text(String(decoding: upload.path.bytes.bytes, as: UTF8.self)),
        "size": .text(String(upload.body.offset)),
        "crc32c": crc32c.map { .text(base64(CRC32C.bigEndianBytes($0))) } ?? .null,
      ])
  }

  private static func refusal(_ text: String) -> ExchangeEnd { .refuse(400, text) }
}
