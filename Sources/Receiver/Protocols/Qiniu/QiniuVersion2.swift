import TransferModel

/// An upload of version 2.
final class QiniuUpload: UploadSession {
  let protocolName = "qiniu"
  let id = randomID()
  /// As in the URL; `~` when the name is sent with the last call.
  let key: String
  let parts: PartUpload
  let lock = UploadLock()
  let expiresAtMs = wallMilliseconds() + 86_400_000

  init(_ core: ReceiverCore, key: String) throws(ExchangeEnd) {
    self.key = key
    parts = try PartUpload(core)
  }

  func path(_ number: Int64) -> NameBytes { NameBytes("-/qiniu/\(id)/\(number)") }
}

/// The calls of version 2: an upload with numbered parts.
struct QiniuVersion2 {
  let call: QiniuCall

  private var exchange: Exchange { call.exchange }

  func open(key: String) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    if key != "~" { _ = try call.objectPath(key, fileName: nil) }
    let upload = try QiniuUpload(exchange.core, key: key)
    try exchange.open(upload)
    return Answer(
      200,
      json: [
        "uploadId": .text(exchange.effect.token ?? upload.id), "expireAt": .number(upload.expiresAtMs / 1000),
      ])
  }

  /// 612 means that the upload is unknown.
  func known(_ id: String) throws(ExchangeEnd) -> QiniuUpload {
    guard let upload = try exchange.session(id, QiniuUpload.self) else {
      throw QiniuCall.refusal(612, "no such uploadId")
    }
    return upload
  }

  func put(_ upload: QiniuUpload, number: String) throws(ExchangeEnd) -> Answer {
    guard let number = wholeNumber(number), (1...10_000).contains(number) else {
      throw QiniuCall.refusal(400, "a part has a number from 1 to 10000")
    }
    var check: BodyCheck?
    if let field = exchange.head["content-md5"] {
      guard let digest = bytesFromHex(field), digest.count == 16 else {
        throw QiniuCall.refusal(400, "Content-MD5 has to be hexadecimal here")
      }
      check = BodyCheck((.md5, digest), refusal: QiniuCall.refusal(400, "the part does not have this Content-MD5"))
    }
    exchange.recordedPath = upload.path(number)
    let received = try PartReceiver(exchange: exchange)
      .receive(into: upload.parts, number, check: check, hashes: [.md5]) { base64URL($0[.md5]!) }
    let md5 = received.digests[.md5]!
    let shown = exchange.effect.ending == .wrongDigest ? md5.map { ~$0 } : md5
    return Answer(200, json: ["etag": .text(received.part.tag), "md5": .text(hexText(shown))])
  }

  func list(_ upload: QiniuUpload) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    if let count = exchange.effect.regress { upload.parts.regress(by: count) }
    let parts = upload.parts.parts.sorted { $0.key < $1.key }.map { number, part -> JSON in
      [
        "size": .number(part.place.length), "etag": .text(part.tag), "partNumber": .number(number),
        "putTime": .number(wallMilliseconds() / 1000),
      ]
    }
    return Answer(
      200,
      json: [
        "uploadId": .text(upload.id), "expireAt": .number(upload.expiresAtMs / 1000), "partNumberMarker": 0,
        "parts": .array(parts),
      ])
  }

  func abort(_ upload: QiniuUpload) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    upload.parts.discard()
    try exchange.end(upload, .aborted)
    return Answer(200, json: [:])
  }

  func complete(_ upload: QiniuUpload) throws(ExchangeEnd) -> Answer {
    let json = try exchange.jsonBody()
    let path = try call.objectPath(upload.key, fileName: json["fname"]?.text.map { Array($0.utf8) })
    return try exchange.holding(upload.lock, busy: Answer(423)) { () throws(ExchangeEnd) in
      let numbers = try numbers(json["parts"]?.array ?? [], upload.parts.parts)
      let parts = upload.parts.parts
      do throws(ExchangeEnd) {
        guard let made = try upload.parts.publish(exchange, numbers, at: path, call.condition) else {
          throw QiniuCall.refusal(400, "a part is being received")
        }
        try PartReceiver(exchange: exchange)
          .noteJoined(numbers.map { (upload.path($0), parts[$0]!.place.length) }, in: path)
        try exchange.end(upload, .completed)
        exchange.core.uploads.remove(upload.id, QiniuUpload.self)
        return call.receipt(path, size: made.size, crc32c: made.crc32c)
      } catch {
        throw call.taken(error)
      }
    }
  }

  /// The parts of the last call: in ascending order, all stored, and with the entity tags of the answers.
  private func numbers(_ named: [JSON], _ parts: [Int64: PartUpload.Part]) throws(ExchangeEnd) -> [Int64] {
    var numbers: [Int64] = []
    for part in named {
      guard let number = part["partNumber"]?.number, number > numbers.last ?? 0, let known = parts[number],
        part["etag"]?.text == known.tag
      else { throw QiniuCall.refusal(400, "a part is missing, out of order, or has another etag") }
      numbers.append(number)
    }
    if numbers.isEmpty { throw QiniuCall.refusal(400, "the list of parts is empty") }
    return numbers
  }
}
