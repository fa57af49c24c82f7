import Glibc
import TransferModel

/// PUT and POST: a raw body becomes an object.
extension Exchange {
  func put() throws(ExchangeEnd) -> Answer { try put(at: try ObjectPath(requestPath: head.path)) }

  func put(at path: ObjectPath) throws(ExchangeEnd) -> Answer {
    if path.isCollection { throw .refuse(409, "a collection cannot be written; create one with MKCOL") }
    if head["content-range"] != nil { throw .refuse(400, "Content-Range is not supported with PUT") }
    let condition = try condition()
    try checkParents(of: path)
    if case .createOnly = condition, try core.store?.status(of: path) != nil {
      throw .refuse(412, "the name is taken")
    }
    let upload = try receiveUpload()
    let created = try upload.commit(at: path, condition)
    return Answer(created ? 201 : 204, fields: upload.fields)
  }

  /// Each POST makes an object with a number as its name below the path, so that a repeated POST shows as a second
  /// object; `?name=x` makes it `<number>-x`.
  func post() throws(ExchangeEnd) -> Answer {
    var folder = try ObjectPath(requestPath: head.path)
    folder.isCollection = true
    let suffix = try postedName()
    try checkParents(of: folder.appending(NameBytes("1")))
    let upload = try receiveUpload()
    while true {
      let name = NameBytes(Array("\(core.nextPosted())".utf8) + suffix)
      if name.bytes.count > 255 { throw .refuse(414, "the name is longer than 255 bytes") }
      let path = folder.appending(name)
      recordedPath = path.bytes
      do throws(ExchangeEnd) {
        _ = try upload.commit(at: path, .createOnly)
      } catch {
        if case .refuse(let answer) = error, answer.status == 412 { continue }
        throw error
      }
      return Answer(201, fields: [Answer.Field("Location", path.encoded)] + upload.fields)
    }
  }

  private func postedName() throws(ExchangeEnd) -> [UInt8] {
    for pair in head.query.split(separator: 0x26) where pair.starts(with: "name=".utf8) {
      return [0x2D] + (try ObjectPath.component(pair.dropFirst(5))).bytes
    }
    return []
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

  private func receiveUpload() throws(ExchangeEnd) -> Upload {
    switch head.framing {
    case .none: throw .refuse(411, "the length of the body is unknown; send Content-Length")
    case .length(let length) where length > core.settings.maxBody:
      throw .refuse(413, "the body is longer than \(core.settings.maxBody) bytes")
    case .length, .chunked: break
    }
    let upload = try Upload(self)
    try invite()
    try upload.receive()
    return upload
  }
}

/// A body on its way to becoming an object. Used by the thread of the connection.
final class Upload {
  private let exchange: Exchange
  /// nil when bodies are discarded.
  private let staged: StagedObject?
  private var crc = CRC32C()
  private let isChecksummed: Bool

  init(_ exchange: Exchange) throws(ExchangeEnd) {
    self.exchange = exchange
    if let store = exchange.core.store { staged = try StagedObject(store) } else { staged = nil }
    let fields = exchange.head.fields
    isChecksummed = staged != nil || fields.contains { $0.name.hasSuffix("-digest") || $0.name == "trailer" }
  }

  private var checksum: UInt32? { isChecksummed ? crc.value : nil }

  var fields: [Answer.Field] {
    guard let checksum else { return [] }
    return [
      Answer.Field("ETag", objectETag(crc32c: checksum, size: exchange.body.received)),
      Answer.Field("Repr-Digest", reprDigest(exchange.effect.ending == .wrongDigest ? ~checksum : checksum)),
    ]
  }

  func receive() throws(ExchangeEnd) {
    if isChecksummed {
      let consume: BodyConsumer = { [self] bytes throws(ExchangeEnd) in
        crc.add(bytes)
        try staged?.append(bytes)
      }
      try exchange.receive(consume, checksum: { checksum })
    } else {
      try exchange.receive(nil, checksum: { nil })
    }
    try compareDigests()
  }

  private func compareDigests() throws(ExchangeEnd) {
    let fields = exchange.head.fields + exchange.body.trailers
    for field in fields where field.name == "content-digest" || field.name == "repr-digest" {
      guard let sent = try crc32c(inDigestField: field.value) else { continue }
      if sent != checksum {
        throw .refuse(400, "digest mismatch: the body does not have the \(field.name) sent with it")
      }
    }
  }

  /// Gives the body its final name and records it; durable on return. True when the name was free.
  func commit(at path: ObjectPath, _ condition: StagedObject.Condition) throws(ExchangeEnd) -> Bool {
    try exchange.publish(staged, at: path, condition, size: exchange.body.received, crc32c: checksum)
  }
}

func reprDigest(_ crc32c: UInt32) -> String { "crc32c=:\(base64(CRC32C.bigEndianBytes(crc32c))):" }

/// The crc32c in a digest field; nil when the field names only other algorithms; 400 when it is malformed.
func crc32c(inDigestField value: String) throws(ExchangeEnd) -> UInt32? {
  try digests(inField: value, of: [.crc32c])[.crc32c]?.reduce(0) { $0 << 8 | UInt32($1) }
}

/// The digests of these kinds in a digest field; 400 when one of them is malformed.
/// Source: RFC 9530 sections 2, 3 and 7, RFC 9651 sections 3.2 and 3.3.5.
func digests(
  inField value: String, of kinds: Set<RunningHash.Kind> = [.crc32c, .sha256, .sha512]
) throws(ExchangeEnd) -> [RunningHash.Kind: [UInt8]] {
  let known: [(name: String, kind: RunningHash.Kind, length: Int)] = [
    ("crc32c=", .crc32c, 4), ("sha-256=", .sha256, 32), ("sha-512=", .sha512, 64),
  ]
  var found: [RunningHash.Kind: [UInt8]] = [:]
  for member in value.split(separator: ",") {
    let text = member.drop { $0 == " " || $0 == "\t" }
    guard let (name, kind, length) = known.first(where: { text.hasPrefix($0.name) }), kinds.contains(kind) else {
      continue
    }
    let encoded = text.dropFirst(name.count)
    guard encoded.count >= 2, encoded.first == ":", let end = encoded.dropFirst().firstIndex(of: ":"),
      let bytes = bytesFromBase64(String(encoded[..<end].dropFirst())), bytes.count == length
    else { throw .refuse(400, "the \(name.dropLast()) of a digest field is malformed") }
    found[kind] = bytes
  }
  return found
}
