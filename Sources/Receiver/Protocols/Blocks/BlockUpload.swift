import TransferModel

/// One upload of ordered blocks. Mutable state is used under the lock of `body`.
final class BlockUpload: UploadSession, @unchecked Sendable {
  let protocolName = "blocks"

  let id = randomID()
  let body: AppendUpload
  let size: Int64
  let expiresAtMs: Int64
  /// Each answer brings a new token; the previous one is refused.
  let rotates: Bool
  let refusesDuplicates: Bool
  /// What the next request has to contain.
  var token: String
  /// The end offset of each stored block; the first block has the number 1.
  var ends: [Int64] = []
  /// Set by the save call.
  var saved: (path: ObjectPath, number: UInt64)?

  init(_ body: AppendUpload, size: Int64, _ query: Query) throws(ExchangeEnd) {
    self.body = body
    self.size = size
    rotates = query["rotate"] == "1"
    refusesDuplicates = query["refuse-duplicates"] == "1"
    expiresAtMs = wallMilliseconds() + min(try query.number("max-age") ?? 86_400, 10_000_000_000) * 1000
    token = id
  }

  var next: Int64 { Int64(ends.count) + 1 }
  var isComplete: Bool { body.offset == size && !ends.isEmpty }
  var isExpired: Bool { wallMilliseconds() >= expiresAtMs }

  /// Forgets the blocks that extend into the last `count` bytes.
  func regress(by count: Int64) throws(ExchangeEnd) {
    let kept = max(0, body.offset - count)
    ends.removeAll { $0 > kept }
    try body.regress(by: body.offset - (ends.last ?? 0))
  }
}

/// The values of `code` in the answers of the protocol; all of them have the HTTP status 200.
enum BlockCode: Int64 {
  case done = 0
  case badRequest = 40001
  case haveIt = 40031
  case wrongChecksum = 40032
  case gap = 40033
  case duplicate = 40034
  case incomplete = 40035
  case noSession = 40101
  case badToken = 40100

  var text: String {
    switch self {
    case .done: "ok"
    case .badRequest: "a parameter is missing or malformed"
    case .haveIt: "this block is already stored"
    case .wrongChecksum: "the block does not have this length and crc"
    case .gap: "blocks are missing before this one"
    case .duplicate: "this block was sent before"
    case .incomplete: "blocks are missing"
    case .noSession: "the token is not known, was replaced, or expired"
    case .badToken: "X-Token is missing or wrong"
    }
  }

  func answer(_ data: JSON? = nil, status: Int = 200) -> Answer {
    let json: JSON = ["code": .number(rawValue), "message": .text(text)]
    return Answer(status, json: data.map { json.adding("data", $0) } ?? json)
  }
}
