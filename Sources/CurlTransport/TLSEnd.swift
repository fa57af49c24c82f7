internal import CCurl

/// How a TLS connection ended, as the messages of OpenSSL tell it.
enum TLSEnd: Equatable {
  /// Without a closure alert: somebody on the way may have ended it.
  case noClosure
  /// The server does not accept the client in the handshake. In TLS 1.3 the client has finished it before the server
  /// verifies it, and may have sent a request, which the server does not read. Source: RFC 8446 sections 4.4.2.4 and
  /// 6.2.
  case refusal(alert: String)

  /// CURLE_SSL_CLIENTCERT, which libcurl itself has for this since 7.77.0, with some TLS libraries.
  static let refused = Int32(CURLE_SSL_CLIENTCERT.rawValue)

  /// The alerts about the certificate of a client, in the words of OpenSSL.
  private static let refusals = [
    "certificate required", "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired",
    "certificate unknown", "unknown ca", "access denied", "handshake failure",
  ]

  /// nil if the message is about something else.
  init?(_ message: String) {
    if message.contains("unexpected eof while reading") {
      self = .noClosure
    } else if let alert = Self.refusals.first(where: { message.contains("alert \($0)") }) {
      self = .refusal(alert: alert)
    } else {
      return nil
    }
  }
}
