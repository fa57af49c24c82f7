import TransferModel

/// Code that the protocols share.
extension Exchange {
  /// Refuses with 401 unless the request brings a credential that this receiver requires.
  func authorize() throws(ExchangeEnd) { try CredentialCheck(settings: core.settings).check(head["authorization"]) }

  func get(_ path: ObjectPath) throws(ExchangeEnd) -> Answer {
    try drop()
    guard let store = core.store else { throw .refuse(404, "bodies are discarded here") }
    var object = try store.object(at: path)
    if let version = effect.version { object = try object.version(version) }
    return try ObjectDownload(exchange: self, object: object).answer()
  }

  func put(at path: ObjectPath) throws(ExchangeEnd) -> Answer { try ObjectUpload(exchange: self).put(at: path) }

  func delete(_ path: ObjectPath) throws(ExchangeEnd) -> Answer { try PlainMethods(exchange: self).delete(path) }

  func makeCollection(_ path: ObjectPath) throws(ExchangeEnd) -> Answer {
    try PlainMethods(exchange: self).makeCollection(path)
  }

  /// The condition that If-Match and If-None-Match set for the name.
  func condition() throws(ExchangeEnd) -> StagedObject.Condition {
    if let none = head["if-none-match"] {
      guard none == "*" else { throw .refuse(400, "If-None-Match takes only * with PUT") }
      return .createOnly
    }
    if let match = head["if-match"] { return match == "*" ? .match(nil) : .match(match) }
    return .replace
  }

  func checkParents(of path: ObjectPath) throws(ExchangeEnd) {
    guard core.settings.strictParents, let store = core.store else { return }
    _ = try store.parent(of: path, creating: false)
  }

  /// Runs `body` as the only request on an upload; refuses with `busy` when the previous request does not end.
  func holding<Result>(
    _ lock: UploadLock, busy: Answer, _ body: () throws(ExchangeEnd) -> Result
  ) throws(ExchangeEnd) -> Result {
    guard let hold = lock.take(interruption) else { throw .refuse(busy) }
    defer { lock.release(hold) }
    return try body()
  }

  /// The upload with this ID; nil when it is unknown, or the script makes the receiver forget it now.
  func session<Session: UploadSession>(_ id: String, _ type: Session.Type) throws(ExchangeEnd) -> Session? {
    let found = core.uploads.find(id, type)
    guard effect.forgetsSession else { return found }
    core.uploads.forget(id, type)
    if let found { try note(.session(found.protocolName, id: id, .forgotten)) }
    return nil
  }

  func open<Session: UploadSession>(_ session: Session, as id: String? = nil) throws(ExchangeEnd) {
    core.uploads.add(session, as: id)
    try note(.session(session.protocolName, id: session.id, .opened))
  }

  /// Records how a session ended. A complete one stays known for a while, an aborted one becomes unknown.
  func end<Session: UploadSession>(
    _ session: Session, _ end: ReceiverEvent.SessionState, as id: String? = nil
  ) throws(ExchangeEnd) {
    switch end {
    case .completed: core.uploads.end(id ?? session.id, Session.self)
    case .aborted: core.uploads.remove(id ?? session.id, Session.self)
    case .opened, .expired, .forgotten: break
    }
    try note(.session(session.protocolName, id: session.id, end))
  }

  /// Gives a complete body its final name and records it; durable on return. True when the name was free.
  func publish(
    _ staged: StagedObject?, at path: ObjectPath, _ condition: StagedObject.Condition, size: Int64, crc32c: UInt32?
  ) throws(ExchangeEnd) -> Bool {
    recordedPath = path.bytes
    try checkParents(of: path)
    let event = ReceiverEvent.Kind.commit(size: size, crc32c: crc32c)
    var isCommitted = false
    defer { core.count { $0.objects += isCommitted ? 1 : 0 } }
    guard let staged else {
      try note(event)
      isCommitted = true
      return true
    }
    return try staged.publish(at: path, condition, crc32c: crc32c ?? 0) { () throws(ExchangeEnd) in
      isCommitted = true
      try note(event)
    }
  }

  /// Reads a body that must fit into memory; 413 when it is longer than 1 MiB.
  func smallBody() throws(ExchangeEnd) -> [UInt8] {
    var (out, crc) = ([UInt8](), CRC32C())
    try invite()
    try receive(
      { bytes throws(ExchangeEnd) in
        if out.count + bytes.count > 1 << 20 { throw .refuse(413, "the message is longer than 1 MiB") }
        out += bytes
        crc.add(bytes)
      }, checksum: { crc.value })
    return out
  }

  /// Reads a JSON object; 400 when the body is not one.
  func jsonBody() throws(ExchangeEnd) -> JSON {
    guard let json = JSON(try smallBody()), case .object = json else {
      throw .refuse(400, "the body is not a JSON object")
    }
    return json
  }

  /// Whether the request has a body of at least one byte, as far as its head tells.
  var hasBody: Bool { head.framing != .none && head.framing != .length(0) }

  /// A path of this server as a URL that the client can use: absolute with the Host field that it sent.
  func url(_ path: String, isRelative: Bool = false) -> String {
    let authority = head["host"] ?? ""
    let isPlain = authority.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x3A, 0x5B, 0x5D, 0x5F: true
      default: false
      }
    }
    return isRelative || authority.isEmpty || !isPlain ? path : "http://\(authority)\(path)"
  }

  /// `{"key":…,"size":…,"crc32c":…}` of an object; the checksum is wrong if the script says so.
  func receipt(_ path: ObjectPath, size: Int64, crc32c: UInt32?) -> JSON {
    let shown = crc32c.map { effect.ending == .wrongDigest ? ~$0 : $0 }
    return [
      "key": .text(String(decoding: path.bytes.bytes, as: UTF8.self)), "size": .number(size),
      "crc32c": shown.map { .text(CRC32C.text($0)) } ?? .null,
    ]
  }
}

extension Answer {
  init(_ status: Int, json: JSON, fields: [Field] = [], type: String = "application/json") {
    self.init(status, fields: [Field("Content-Type", type)] + fields)
    body = json.bytes + [0x0A]
  }
}
