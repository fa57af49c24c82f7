import TransferModel
import TransferProtocols

/// Hides secrets in text that came from a server or a library before it is stored: servers like to quote the request.
struct SecretMask: Sendable {
  private let secrets: [[UInt8]]
  /// Names of query parameters and fields whose value is a secret or works as one.
  private static let names = ["X-Amz-Signature=", "X-Amz-Security-Token=", "Signature=", "sig=", "Bearer ", "Basic "]
  /// Bytes of a secret that a server gave.
  private static let shortest = 8
  private static let marker = Array("[hidden]".utf8)

  /// `learned` may hold secrets that servers gave.
  init(_ credential: Credential?, _ learned: [LearnedFacts] = []) {
    let texts: [String?] =
      switch credential {
      case nil: []
      case .aws(_, let secretKey, let sessionToken): [secretKey, sessionToken]
      case .basic(let user, let password): [password, base64(Array("\(user):\(password)".utf8))]
      case .bearer(let token): [token]
      case .inputs(let values): Array(values.values)
      }
    // What is shorter is no secret, and stands by chance in too many answers.
    let given = learned.flatMap(\.secrets.values).filter { $0.utf8.count >= Self.shortest }
    secrets = (texts.compactMap { $0 } + given).filter { !$0.isEmpty }.map { Array($0.utf8) }
  }

  /// The reply with secrets hidden in its body. A success is read by the protocol, which may need what only looks like a secret
  /// (a signed URL): there, our own are hidden. A success that is large is a listing, and quotes nothing of the request.
  func applied(to reply: TransferReply) -> TransferReply {
    let isSuccess = reply.status < 300
    guard !reply.body.isEmpty, !isSuccess || (reply.body.count <= 64 << 10 && !secrets.isEmpty) else { return reply }
    var masked = reply
    masked.body = applied(reply.body, names: isSuccess ? [] : Self.names)
    return masked
  }

  func applied(_ text: String) -> String { String(decoding: applied(Array(text.utf8)), as: UTF8.self) }

  func applied(_ bytes: [UInt8]) -> [UInt8] { applied(bytes, names: Self.names) }

  private func applied(_ bytes: [UInt8], names: [String]) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var rest = bytes[...]
    while let first = rest.first {
      if let secret = secrets.first(where: { rest.starts(with: $0) }) {
        out += Self.marker
        rest = rest.dropFirst(secret.count)
      } else if let name = names.first(where: { rest.starts(with: $0.utf8) }) {
        out += Array(name.utf8) + Self.marker
        rest = rest.dropFirst(name.utf8.count).drop { !Self.endsValue($0) }
      } else {
        out.append(first)
        rest = rest.dropFirst()
      }
    }
    return out
  }

  private static func endsValue(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == 0x26 || byte == 0x2C || byte == 0x22 || byte == 0x27 || byte == 0x3C || byte == 0x3E
  }
}
