import HTTPServer
import TransferModel

/// The token, and the cookies issued for it. They live as long as the process.
final class ServeSessions: Sendable {
  /// More browsers than one person has; the oldest session is dropped.
  private static let limit = 64
  let token: [UInt8]
  private let cookies = Lock<[String]>([])
  /// Cookies are shared by all ports of a host.
  private let cookieName: String

  init(token: String, port: UInt16) {
    self.token = Array(token.utf8)
    cookieName = "transfers-\(port)"
  }

  /// Letters and digits with 256 bits of randomness.
  static func newToken() -> String {
    var system = SystemRandomNumberGenerator()
    return hexText((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &system) })
  }

  /// The value of a Set-Cookie field; nil for a wrong token. Scripts cannot read the cookie, and pages of other sites
  /// cannot send it.
  func open(_ offered: some Collection<UInt8>) -> String? {
    guard isToken(offered) else { return nil }
    let cookie = Self.newToken()
    cookies.withLock { cookies in
      cookies.append(cookie)
      if cookies.count > Self.limit { cookies.removeFirst() }
    }
    return "\(cookieName)=\(cookie); Path=/; HttpOnly; SameSite=Strict"
  }

  /// Programs send the token itself (RFC 6750 section 2.1), browsers the cookie.
  func knows(_ request: HTTPRequest) -> Bool {
    if let words = request["authorization"]?.split(separator: " "), words.count == 2, words[0].lowercased() == "bearer"
    {
      return isToken(words[1].utf8)
    }
    let offered = request.fields.filter { $0.name == "cookie" }.flatMap { cookies($0.value) }
    let known = cookies.withLock(\.self)
    return offered.contains { cookie in known.contains { Self.areEqual(Array($0.utf8), Array(cookie.utf8)) } }
  }

  /// Our cookies in a Cookie field (RFC 6265 section 4.2.1).
  private func cookies(_ field: String) -> [String] {
    let start = cookieName + "="
    let pairs = field.split(separator: ";").map { $0.drop { $0 == " " } }
    return pairs.filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
  }

  private func isToken(_ offered: some Collection<UInt8>) -> Bool { Self.areEqual(token, Array(offered)) }

  /// Compares in constant time.
  private static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
