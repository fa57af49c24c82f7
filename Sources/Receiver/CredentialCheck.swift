import TransferModel

/// The credential that this receiver requires, if any.
struct CredentialCheck {
  let settings: ReceiverSettings

  /// Throws the refusal unless `given`, the value of `Authorization`, is the credential that is required.
  func check(_ given: String?) throws(ExchangeEnd) {
    if settings.basicCredential == nil && settings.bearerToken == nil { return }
    var expected: [String] = []
    if let basic = settings.basicCredential { expected.append("Basic \(base64(Array(basic.utf8)))") }
    if let token = settings.bearerToken { expected.append("Bearer \(token)") }
    let given = Array((given ?? "").utf8)
    if expected.contains(where: { isEqualInConstantTime(Array($0.utf8), given) }) { return }
    let challenge = settings.basicCredential == nil ? "Bearer" : "Basic realm=\"receiver\", charset=\"UTF-8\""
    throw .refuse(
      401, given.isEmpty ? "a credential is required" : "the credential is wrong",
      fields: [Answer.Field("WWW-Authenticate", challenge)])
  }
}

/// Compares in constant time, so that the duration does not reveal where the difference is.
func isEqualInConstantTime(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  a.count == b.count && zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}
