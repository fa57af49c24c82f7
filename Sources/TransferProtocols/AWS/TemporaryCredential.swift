import TransferModel

/// An AWS credential with its expiry time.
public struct TemporaryCredential: Sendable, Hashable {
  public var credential: Credential
  /// Milliseconds since 1970 UTC; nil if it does not expire.
  public var expiresAtMs: Int64?

  public init(_ credential: Credential, expiresAtMs: Int64? = nil) {
    (self.credential, self.expiresAtMs) = (credential, expiresAtMs)
  }
}

/// Why no credential was obtained. The text contains no secret.
public struct CredentialFault: Error, Hashable, Sendable {
  public var cause: String
  /// Repeating the request a little later may succeed.
  public var isTransient: Bool

  public init(_ cause: String, isTransient: Bool = false) { (self.cause, self.isTransient) = (cause, isTransient) }
}

/// Parsers of the documents in which AWS returns credentials. Errors name missing fields, and never quote values.
extension TemporaryCredential {
  /// The output of a `credential_process`. Source: AWS SDKs and Tools Reference Guide, "Process credential provider".
  public init(ofProcess bytes: [UInt8]) throws(CredentialFault) {
    let document = try Self.document(bytes, "the output of credential_process")
    guard document["Version"] == .int(1) else {
      throw CredentialFault("the output of credential_process has no \"Version\": 1")
    }
    try self.init(document, token: "SessionToken", isTokenNeeded: false, "the output of credential_process")
  }

  /// The answer of the endpoint of a container or an instance.
  /// Source: AWS SDKs and Tools Reference Guide, "Container credential provider"; EC2 user guide, "Retrieve security
  /// credentials from instance metadata".
  package init(ofEndpoint reply: TransferReply) throws(CredentialFault) {
    try Self.check(reply, "the endpoint for credentials")
    let document = try Self.document(reply.body, "the answer")
    // The metadata service answers 200 even if the role cannot be used.
    if case .string(let code)? = document["Code"], code != "Success" {
      throw CredentialFault("the endpoint for credentials answered \(Self.shown(code))")
    }
    try self.init(document, token: "Token", isTokenNeeded: true, "the answer of the endpoint for credentials")
  }

  /// The answer to GetRoleCredentials of IAM Identity Center: times are in milliseconds.
  package init(ofSingleSignOn reply: TransferReply) throws(CredentialFault) {
    if reply.curlCode == 0, reply.status == 401 {
      throw CredentialFault("the login has expired; run \"aws sso login\"")
    }
    try Self.check(reply, "IAM Identity Center")
    let document = try Self.document(reply.body, "the answer of IAM Identity Center")
    guard case .string(let key)? = document["roleCredentials"]?["accessKeyId"],
      case .string(let secret)? = document["roleCredentials"]?["secretAccessKey"],
      case .string(let token)? = document["roleCredentials"]?["sessionToken"],
      case .int(let expiresAtMs)? = document["roleCredentials"]?["expiration"]
    else { throw CredentialFault("the answer of IAM Identity Center lacks part of the credential") }
    self.init(.aws(accessKey: key, secretKey: secret, sessionToken: token), expiresAtMs: expiresAtMs)
  }

  private init(
    _ document: JSONValue, token name: String, isTokenNeeded: Bool, _ place: String
  ) throws(CredentialFault) {
    func text(_ name: String) -> String? {
      if case .string(let text)? = document[name], !text.isEmpty { text } else { nil }
    }
    guard let key = text("AccessKeyId"), let secret = text("SecretAccessKey") else {
      throw CredentialFault("\(place) lacks AccessKeyId or SecretAccessKey")
    }
    let token = text(name)
    guard token != nil || !isTokenNeeded else { throw CredentialFault("\(place) lacks \(name)") }
    var expiresAtMs: Int64?
    if let expiration = text("Expiration") {
      expiresAtMs = CivilTime.wallMs(rfc3339: expiration)
      guard expiresAtMs != nil else { throw CredentialFault("the Expiration in \(place) is not a time (RFC 3339)") }
    }
    self.init(.aws(accessKey: key, secretKey: secret, sessionToken: token), expiresAtMs: expiresAtMs)
  }

  static func document(_ bytes: [UInt8], _ place: String) throws(CredentialFault) -> JSONValue {
    guard let value = try? JSONReader.read(bytes), case .object = value else {
      throw CredentialFault("\(place) is not a JSON object")
    }
    return value
  }

  /// Any status but 200 is a fault; transient ones are marked for a retry.
  package static func check(_ reply: TransferReply, _ server: String) throws(CredentialFault) {
    guard reply.curlCode == 0 else {
      throw CredentialFault("\(server) cannot be reached: \(reply.curlMessage)", isTransient: true)
    }
    guard reply.status == 200 else {
      throw CredentialFault("\(server) answered \(reply.status)", isTransient: isTransient(reply.status))
    }
  }

  static func isTransient(_ status: Int) -> Bool { status == 429 || status >= 500 }

  /// A word from a server, for an error message.
  static func shown(_ text: String) -> String { "\"\(NameBytes(Array(text.utf8.prefix(200))).embedded)\"" }
}
