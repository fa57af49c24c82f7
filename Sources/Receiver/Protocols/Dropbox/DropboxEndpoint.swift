import TransferModel

/// An upload session of Dropbox. Mutable state is used under the lock of `body`.
final class DropboxUpload: UploadSession, @unchecked Sendable {
  let protocolName = "dropbox"
  let id = randomID()
  let body: AppendUpload
  let expiresAtMs = wallMilliseconds() + 7 * 86_400_000
  var isClosed = false

  init(_ body: AppendUpload) { self.body = body }

  var path: NameBytes { NameBytes("-/dropbox/\(id)") }
}

/// Sequential upload sessions of Dropbox: `start`, `append_v2`, `finish`.
/// Source: Dropbox API v2, /files/upload_session.
struct DropboxEndpoint: Endpoint {
  static let names = ["dropbox"]
  private static let bodyLimit: Int64 = 150 << 20

  let exchange: Exchange
  let target: EndpointTarget

  func answer() throws(ExchangeEnd) -> Answer {
    try exchange.authorize()
    let words = target.words
    guard exchange.head.method == "POST", words.count == 4, words[0...2] == ["2", "files", "upload_session"] else {
      throw .refuse(404, "POST 2/files/upload_session/start, append_v2 and finish")
    }
    guard exchange.head["content-type"] == "application/octet-stream" else {
      throw .refuse(400, "Content-Type has to be application/octet-stream")
    }
    let argument = exchange.head["dropbox-api-arg"] ?? target.query["arg"] ?? ""
    guard argument.utf8.allSatisfy({ $0 < 0x80 }), let json = JSON(Array(argument.utf8)) else {
      throw .refuse(400, "Dropbox-API-Arg is not JSON in ASCII")
    }
    if case .length(let length) = exchange.head.framing, length > Self.bodyLimit {
      throw Self.refusal(["payload_too_large"])
    }
    switch words[3] {
    case "start": return try start(json)
    case "append_v2": return try append(json)
    case "finish": return try finish(json)
    default: throw .refuse(404, "no such call")
    }
  }

  private func start(_ json: JSON) throws(ExchangeEnd) -> Answer {
    guard json["session_type"]?[".tag"]?.text ?? "sequential" == "sequential" else {
      throw .refuse(400, "only sequential sessions are supported here")
    }
    let upload = DropboxUpload(try AppendUpload(exchange.core))
    exchange.recordedPath = upload.path
    try exchange.open(upload)
    try exchange.holding(upload.body.lock, busy: Answer(429)) { () throws(ExchangeEnd) in
      try take(upload)
      upload.isClosed = json["close"]?.bool ?? false
    }
    return Answer(200, json: ["session_id": .text(exchange.effect.token ?? upload.id)])
  }

  private func append(_ json: JSON) throws(ExchangeEnd) -> Answer {
    try onCursor(json, wrap: { $0 }) { upload throws(ExchangeEnd) in
      if upload.isClosed { throw Self.refusal(["closed"]) }
      try take(upload)
      upload.isClosed = json["close"]?.bool ?? false
      var answer = Answer(200, json: .null)
      answer.body = Array("null".utf8)
      return answer
    }
  }

  private func finish(_ json: JSON) throws(ExchangeEnd) -> Answer {
    guard let name = json["commit"]?["path"]?.text, name.hasPrefix("/") else {
      throw .refuse(400, "the commit names no path")
    }
    let path = try ObjectPath(name: Array(name.utf8.dropFirst()))
    let mode = json["commit"]?["mode"]?.text ?? json["commit"]?["mode"]?[".tag"]?.text ?? "add"
    return try onCursor(json, wrap: { ["lookup_failed"] + $0 }) { upload throws(ExchangeEnd) in
      try take(upload)
      do throws(ExchangeEnd) {
        _ = try upload.body.publish(exchange, at: path, mode == "overwrite" ? .replace : .createOnly)
      } catch {
        guard case .refuse(let answer) = error, answer.status == 412 else { throw error }
        throw Self.refusal(["path", "conflict"])
      }
      try exchange.note(.joined(from: upload.path, ByteRange(offset: 0, length: upload.body.offset)), of: path)
      try exchange.end(upload, .completed)
      exchange.core.uploads.remove(upload.id, DropboxUpload.self)
      let json = exchange.receipt(path, size: upload.body.offset, crc32c: upload.body.crc32c)
      let last = String(decoding: path.components.last!.bytes, as: UTF8.self)
      return Answer(200, json: json.adding("name", .text(last)).adding("path_display", .text(name)))
    }
  }

  /// Finds the session of a cursor and compares its offset. `wrap` puts an error where the call expects it.
  private func onCursor(
    _ json: JSON, wrap: ([String]) -> [String], _ body: (DropboxUpload) throws(ExchangeEnd) -> Answer
  ) throws(ExchangeEnd) -> Answer {
    guard let id = json["cursor"]?["session_id"]?.text, let offset = json["cursor"]?["offset"]?.number else {
      throw .refuse(400, "the cursor is missing")
    }
    guard let upload = try exchange.session(id, DropboxUpload.self), upload.expiresAtMs > wallMilliseconds() else {
      throw Self.refusal(wrap(["not_found"]))
    }
    exchange.recordedPath = upload.path
    return try exchange.holding(upload.body.lock, busy: Answer(429)) { () throws(ExchangeEnd) in
      guard offset == upload.body.offset else {
        let shown = exchange.effect.isOffsetPastEnd ? upload.body.offset + 1 : upload.body.offset
        throw Self.refusal(wrap(["incorrect_offset"]), correct: shown)
      }
      return try body(upload)
    }
  }

  /// An interrupted body is not kept.
  private func take(_ upload: DropboxUpload) throws(ExchangeEnd) {
    try exchange.invite()
    try upload.body.append(exchange, upTo: .max, keeping: .nothing)
    if let count = exchange.effect.regress { try upload.body.regress(by: count) }
  }

  /// 409 with nested tags; the innermost has the correct value.
  private static func refusal(_ tags: [String], correct: Int64? = nil) -> ExchangeEnd {
    var error: JSON = [".tag": .text(tags.last!)]
    if let correct { error = error.adding("correct_offset", .number(correct)) }
    for outer in tags.dropLast().reversed() { error = [".tag": .text(outer), outer: error] }
    let summary = tags.joined(separator: "/") + "/.."
    return .refuse(Answer(409, json: ["error_summary": .text(summary), "error": error]))
  }
}
