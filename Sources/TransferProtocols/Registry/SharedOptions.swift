import TransferModel

// Options that mean the same to several protocols.
extension ProtocolOption {
  static let partSize = Self("part-size") { $0.partSize != nil }
  static let ifNoneMatch = Self("if-none-match") { $0.ifNoneMatch }
  static let expectContinue = Self("expect-continue") { $0.expectContinue }
  static let auth = Self("auth") { $0.auth != nil }
  static let contentType = Self("content-type") { $0.web?.contentType != nil }
  static let acceptHTML = Self("accept-html") { $0.web?.acceptsHTML != nil }
  static let accept202 = Self("accept-202") { $0.web?.accepts202 != nil }
  static let digest = Self("digest") { $0.web?.digest != nil }
}
