import TransferModel

/// Qiniu's upload protocols: version 1 (`mkblk`, `mkfile`) and version 2 (`buckets/…/uploads`).
/// Source: the source code of Qiniu's SDKs.
struct QiniuEndpoint: Endpoint {
  static let names = ["qiniu"]

  let exchange: Exchange
  let target: EndpointTarget

  private var call: QiniuCall { QiniuCall(exchange: exchange, query: target.query) }

  func answer() throws(ExchangeEnd) -> Answer {
    try authorize()
    let (words, method) = (target.words, exchange.head.method)
    let version = QiniuVersion1(call: call)
    switch words.first {
    case "mkblk" where words.count == 2 && method == "POST": return try version.makeBlock(words[1])
    case "mkfile" where words.count >= 2 && words.count % 2 == 0 && method == "POST":
      return try version.makeFile(words)
    case "buckets": return try onBucket(words, method)
    default: throw QiniuCall.refusal(404, "no such call")
    }
  }

  private func onBucket(_ words: [String], _ method: String) throws(ExchangeEnd) -> Answer {
    guard words.count >= 5, words[2] == "objects", words[4] == "uploads" else {
      throw QiniuCall.refusal(404, "no such call")
    }
    let version = QiniuVersion2(call: call)
    switch (words.count, method) {
    case (5, "POST"): return try version.open(key: words[3])
    case (6, "GET"): return try version.list(try version.known(words[5]))
    case (6, "POST"): return try version.complete(try version.known(words[5]))
    case (6, "DELETE"): return try version.abort(try version.known(words[5]))
    case (7, "PUT"): return try version.put(try version.known(words[5]), number: words[6])
    default: throw QiniuCall.refusal(405, "no such call")
    }
  }

  /// The bearer token of the receiver is the upload token here.
  private func authorize() throws(ExchangeEnd) {
    guard let token = exchange.core.settings.bearerToken else { return try exchange.authorize() }
    let given = Array((exchange.head["authorization"] ?? "").utf8)
    guard isEqualInConstantTime(Array("UpToken \(token)".utf8), given) else {
      throw QiniuCall.refusal(401, "bad token")
    }
  }
}
