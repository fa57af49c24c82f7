import TransferModel

/// One call of either version: names, conditions and answers, which both share.
struct QiniuCall {
  let exchange: Exchange
  let query: Query

  static func refusal(_ status: Int, _ text: String) -> ExchangeEnd {
    .refuse(Answer(status, json: ["error": .text(text)]))
  }

  /// The name in a key of the URL; without a key or with `~`, the name that the file was given.
  func objectPath(_ key: String?, fileName: [UInt8]?) throws(ExchangeEnd) -> ObjectPath {
    guard let key, key != "~" else { return try ObjectPath(name: fileName ?? []) }
    guard let name = bytesFromBase64URL(key) else { throw Self.refusal(400, "the key is not base64") }
    return try ObjectPath(name: name)
  }

  /// The condition for taking the name: `?insert-only=1` refuses to replace an object.
  var condition: StagedObject.Condition { query["insert-only"] == "1" ? .createOnly : .replace }

  /// The answer 614 instead of 412 when the name is taken.
  func taken(_ end: ExchangeEnd) -> ExchangeEnd {
    guard case .refuse(let answer) = end, answer.status == 412 else { return end }
    return Self.refusal(614, "file exists")
  }

  func receipt(_ path: ObjectPath, size: Int64, crc32c: UInt32?) -> Answer {
    let hash = crc32c.map { base64URL(CRC32C.bigEndianBytes($0)) } ?? ""
    return Answer(200, json: exchange.receipt(path, size: size, crc32c: crc32c).adding("hash", .text(hash)))
  }
}
