import TransferModel

extension Credential? {
  /// The value of the `Authorization` field; nil for none. A credential can neither end the field nor begin another
  /// one.
  var authorization: String? {
    get throws(Failure) {
      switch self {
      case nil: return nil
      case .basic(let user, let password):
        guard !user.utf8.contains(0x3A), (user + password).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
          throw Failure(.authMissing, "the user name holds a colon, or the user name or password a control character")
        }
        return "Basic " + base64(Array("\(user):\(password)".utf8))
      case .bearer(let token):
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
          throw Failure(.authMissing, "the bearer token is empty or holds characters that a header field cannot carry")
        }
        return "Bearer " + token
      case .aws, .inputs: throw Failure(.authMissing, "this kind of credential is of no use here; pass --auth")
      }
    }
  }
}
