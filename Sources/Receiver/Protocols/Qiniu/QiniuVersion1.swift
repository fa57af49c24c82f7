import TransferModel

/// A block of version 1: bytes that do not belong to a file yet.
final class QiniuBlock: UploadSession {
  let protocolName = "qiniu"
  let id = randomID()
  let number: Int64
  let part: PartUpload.Part
  let expiresAtMs = wallMilliseconds() + 86_400_000

  init(number: Int64, part: PartUpload.Part) { (self.number, self.part) = (number, part) }
}

/// The blocks of all files, in one staged file.
final class QiniuBlocks: UploadSession {
  static let shared = "all"
  let protocolName = "qiniu"
  let id = QiniuBlocks.shared
  let expiresAtMs = Int64.max
  let parts: PartUpload
  private let last = Lock<Int64>(0)

  init(_ core: ReceiverCore) throws(ExchangeEnd) { parts = try PartUpload(core) }

  func nextNumber() -> Int64 {
    last.withLock { last in
      last += 1
      return last
    }
  }
}

/// The calls of version 1: blocks of 4 MiB, and the call that joins them.
struct QiniuVersion1 {
  let call: QiniuCall

  private var exchange: Exchange { call.exchange }

  private static let blockSize: Int64 = 4 << 20

  private func blocks() throws(ExchangeEnd) -> QiniuBlocks {
    let found = try exchange.core.uploads.findOrMake(QiniuBlocks.shared) { () throws(ExchangeEnd) in
      try QiniuBlocks(exchange.core)
    }
    guard let found else { throw QiniuCall.refusal(701, "the blocks are gone") }
    return found.session
  }

  func makeBlock(_ size: String) throws(ExchangeEnd) -> Answer {
    guard let size = wholeNumber(size), size <= Self.blockSize, exchange.head.framing == .length(size) else {
      throw QiniuCall.refusal(400, "a block has at most 4 MiB, and exactly the size in its URL")
    }
    let blocks = try blocks()
    let number = blocks.nextNumber()
    exchange.recordedPath = Self.path(number)
    let received = try PartReceiver(exchange: exchange).receive(into: blocks.parts, number, hashes: [.crc32, .sha1])
    let block = QiniuBlock(number: number, part: received.part)
    try exchange.open(block)
    let crc32 = received.digests[.crc32]!.reduce(Int64(0)) { $0 << 8 | Int64($1) }
    let shown = exchange.effect.ending == .wrongDigest ? crc32 ^ 0xFFFF_FFFF : crc32
    return Answer(
      200,
      json: [
        "ctx": .text(exchange.effect.token ?? block.id), "checksum": .text(base64URL(received.digests[.sha1]!)),
        "crc32": .number(shown), "offset": .number(size), "host": .text(exchange.url("/-/qiniu")),
        "expired_at": .number(block.expiresAtMs / 1000),
      ])
  }

  private static func path(_ number: Int64) -> NameBytes { NameBytes("-/qiniu/block/\(number)") }

  /// Joins blocks in the order of their contexts. They are kept until they expire, so that the call can be repeated.
  func makeFile(_ words: [String]) throws(ExchangeEnd) -> Answer {
    let contexts = String(decoding: try exchange.smallBody(), as: UTF8.self).split(separator: ",")
    guard let size = wholeNumber(words[1]) else { throw QiniuCall.refusal(400, "the size is malformed") }
    var named: [String: String] = [:]
    for i in stride(from: 2, to: words.count, by: 2) { named[words[i]] = words[i + 1] }
    let path = try call.objectPath(named["key"], fileName: named["fname"].flatMap { bytesFromBase64URL($0) })
    var found: [QiniuBlock] = []
    for context in contexts {
      guard let block = try exchange.session(String(context), QiniuBlock.self), block.expiresAtMs > wallMilliseconds()
      else { throw QiniuCall.refusal(701, "a ctx is unknown or expired") }
      found.append(block)
    }
    let lengths = found.map(\.part.place.length)
    guard lengths.reduce(0, +) == size, lengths.dropLast().allSatisfy({ $0 == Self.blockSize }) else {
      throw QiniuCall.refusal(400, "the blocks do not add up to the size, or one before the last is not 4 MiB")
    }
    return try join(found, size: size, at: path)
  }

  private func join(_ found: [QiniuBlock], size: Int64, at path: ObjectPath) throws(ExchangeEnd) -> Answer {
    let crc32c = found.reduce(0) { CRC32C.combined($0, $1.part.crc32c, lengthB: $1.part.place.length) }
    let staged = try blocks().parts.copy(found.map(\.number), exchange.core)
    do throws(ExchangeEnd) {
      _ = try exchange.publish(staged, at: path, call.condition, size: size, crc32c: crc32c)
    } catch {
      throw call.taken(error)
    }
    try PartReceiver(exchange: exchange)
      .noteJoined(found.map { (Self.path($0.number), $0.part.place.length) }, in: path)
    for block in found { try exchange.note(.session(block.protocolName, id: block.id, .completed)) }
    return call.receipt(path, size: size, crc32c: crc32c)
  }
}
