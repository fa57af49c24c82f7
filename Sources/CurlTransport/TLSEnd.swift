/// How a TLS connection ended, as the messages of OpenSSL tell it.
enum TLSEnd: Equatable {
  /// Without a closure alert: somebody on the way may have ended it.
  case noClosure

  /// nil if the message is about something else.
  init?(_ message: String) {
    guard message.contains("unexpected eof while reading") else { return nil }
    self = .noClosure
  }
}
