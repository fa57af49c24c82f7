import TransferModel

/// Header fields of callbacks besides the document. Source: Standard Webhooks 1.0.0, "Webhook metadata" and "Signature
/// scheme".
package enum Webhook {
  /// `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64.
  /// - Parameter secret: `whsec_` and the key in base64, or the key itself.
  package static func signature(secret: String, id: String, seconds: Int64, body: [UInt8]) -> String {
    let message = Array("\(id).\(seconds).".utf8) + body
    return "v1," + base64(RunningDigest.hmacSHA256(key: key(secret), message))
  }

  private static func key(_ secret: String) -> [UInt8] {
    guard secret.hasPrefix("whsec_") else { return Array(secret.utf8) }
    let text = secret.dropFirst("whsec_".utf8.count)
    return bytesFromBase64(String(text)) ?? Array(text.utf8)
  }

  /// Whether it can be a receiver: `http` or `https`, no user information, no fragment, nothing that needs an escape.
  package static func isURL(_ text: String) -> Bool {
    let isTLS = text.hasPrefix("https://")
    guard isTLS || text.hasPrefix("http://"), text.utf8.count <= 4_096 else { return false }
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 && $0 != 0x22 && $0 != 0x5C }) else {
      return false
    }
    let authority = text.dropFirst(isTLS ? 8 : 7).prefix { $0 != "/" && $0 != "?" }
    return (try? WebOrigin(isTLS: isTLS, authority: authority)) != nil
  }

  /// The displayed part of a URL, whose path may be a secret: its origin.
  package static func origin(of url: String) -> String {
    guard let mark = url.firstRange(of: "://") else { return "" }
    return String(url[..<mark.upperBound] + url[mark.upperBound...].prefix { $0 != "/" && $0 != "?" })
  }

  /// The URL that notifies a dead man's switch of an event. Source: healthchecks.io, "Pinging API".
  package static func ping(_ url: String, _ event: CallbackEvent) -> String {
    let suffix =
      switch event {
      case .started: "/start"
      case .unsuccessful, .failed, .unknown, .batchFailed: "/fail"
      case .succeeded, .done, .batchDone: ""
      }
    let path = url.prefix { $0 != "?" }
    let root = path.hasSuffix("/") ? path.dropLast() : path
    return suffix.isEmpty ? url : root + suffix + url.dropFirst(path.count)
  }
}
