import Glibc
import TransferModel

/// PUT and POST: a raw body becomes an object.
struct ObjectUpload {
  let exchange: Exchange

  func put() throws(ExchangeEnd) -> Answer { try put(at: try ObjectPath(requestPath: exchange.head.path)) }

  func put(at path: ObjectPath) throws(ExchangeEnd) -> Answer {
    if path.isCollection { throw .refuse(409, "a collection cannot be written; create one with MKCOL") }
    if exchange.head["content-range"] != nil { throw .refuse(400, "Content-Range is not supported with PUT") }
    let condition = try exchange.condition()
    try exchange.checkParents(of: path)
    if case .createOnly = condition, try exchange.core.store?.status(of: path) != nil {
      throw .refuse(412, "the name is taken")
    }
    let upload = try receiveUpload()
    let created = try upload.commit(at: path, condition)
    return Answer(created ? 201 : 204, fields: upload.fields)
  }

  /// Each POST makes an object with a number as its name below the path, so that a repeated POST shows as a second
  /// object; `?name=x` makes it `<number>-x`.
  func post() throws(ExchangeEnd) -> Answer {
    var folder = try ObjectPath(requestPath: exchange.head.path)
    folder.isCollection = true
    let suffix = try postedName()
    try exchange.checkParents(of: folder.appending(NameBytes("1")))
    let upload = try receiveUpload()
    while true {
      let name = NameBytes(Array("\(exchange.core.nextPosted())".utf8) + suffix)
      if name.bytes.count > 255 { throw .refuse(414, "the name is longer than 255 bytes") }
      let path = folder.appending(name)
      exchange.recordedPath = path.bytes
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
    for pair in exchange.head.query.split(separator: 0x26) where pair.starts(with: "name=".utf8) {
      return [0x2D] + (try ObjectPath.component(pair.dropFirst(5))).bytes
    }
    return []
  }

  private func receiveUpload() throws(ExchangeEnd) -> Upload {
    switch exchange.head.framing {
    case .none: throw .refuse(411, "the length of the body is unknown; send Content-Length")
    case .length(let length) where length > exchange.core.settings.maxBody:
      throw .refuse(413, "the body is longer than \(exchange.core.settings.maxBody) bytes")
    case .length, .chunked: break
    }
    let upload = try Upload(exchange)
    try exchange.invite()
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
