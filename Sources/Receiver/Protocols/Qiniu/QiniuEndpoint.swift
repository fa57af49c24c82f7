import TransferModel

/// Qiniu's upload protocols: version 1 (`mkblk`, `mkfile`) and version 2 (`buckets/…/uploads`).
/// Source: the source code of Qiniu's SDKs.
struct QiniuEndpoint: Endpoint {
  static let names = ["qiniu"]

  let exchange: Exchange
  let target: EndpointTarget

  func answer() throws(ExchangeEnd) -> Answer {
    try authorize()
    let (words, method) = (target.words, exchange.head.method)
    switch words.first {
    case "mkblk" where words.count == 2 && method == "POST": return try makeBlock(words[1])
    case "mkfile" where words.count >= 2 && words.count % 2 == 0 && method == "POST": return try makeFile(words)
    case "buckets": return try onBucket(words, method)
    default: throw Self.refusal(404, "no such call")
    }
  }

  private func onBucket(_ words: [String], _ method: String) throws(ExchangeEnd) -> Answer {
    guard words.count >= 5, words[2] == "objects", words[4] == "uploads" else {
      throw Self.refusal(404, "no such call")
    }
    switch (words.count, method) {
    case (5, "POST"): return try open(key: words[3])
    case (6, "GET"): return try list(try known(words[5]))
    case (6, "POST"): return try complete(try known(words[5]))
    case (6, "DELETE"): return try abort(try known(words[5]))
    case (7, "PUT"): return try put(try known(words[5]), number: words[6])
    default: throw Self.refusal(405, "no such call")
    }
  }

  /// The bearer token of the receiver is the upload token here.
  private func authorize() throws(ExchangeEnd) {
    guard let token = exchange.core.settings.bearerToken else { return try exchange.authorize() }
    let given = Array((exchange.head["authorization"] ?? "").utf8)
    guard isEqualInConstantTime(Array("UpToken \(token)".utf8), given) else { throw Self.refusal(401, "bad token") }
  }

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
  var condition: StagedObject.Condition { target.query["insert-only"] == "1" ? .createOnly : .replace }

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
