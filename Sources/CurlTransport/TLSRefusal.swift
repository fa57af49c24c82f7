internal import CCurl

/// A server that does not accept the client in the handshake. In TLS 1.3 the client has finished it before the server
/// verifies it, and may have sent a request, which the server does not read. Source: RFC 8446 sections 4.4.2.4 and 6.2.
enum TLSRefusal {
  /// CURLE_SSL_CLIENTCERT, which libcurl itself has for this since 7.77.0, with some TLS libraries.
  static let code = Int32(CURLE_SSL_CLIENTCERT.rawValue)

  /// The alerts about the certificate of a client, in the words of OpenSSL.
  private static let alerts = [
    "certificate required", "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired",
    "certificate unknown", "unknown ca", "access denied", "handshake failure",
  ]

  /// The alert that a message of libcurl names; nil if the message is about something else.
  static func alert(in message: String) -> String? { alerts.first { message.contains("alert \($0)") } }
}
