import TransferModel

/// The login that `aws sso login` stored in its cache. Contains secrets.
public struct SingleSignOnLogin: Sendable, Hashable {
  /// What is needed to renew a login.
  package struct Renewal: Sendable, Hashable {
    var refreshToken: String
    var clientID: String
    var clientSecret: String
    /// When the registration of the client ends, as written.
    var registrationExpires: String
  }

  package let token: String
  package let expiresAtMs: Int64
  /// nil for a login that cannot be renewed.
  package let renewal: Renewal?

  /// Source: botocore 1.44.8, `SSOTokenProvider._REFRESH_WINDOW`.
  package static let renewAheadMs: Int64 = 900_000

  /// Parses a file of the cache.
  /// - Throws: if it is not a login.
  public init(_ bytes: [UInt8]) throws(CredentialFault) {
    let document = try TemporaryCredential.document(bytes, "the login in the cache of AWS tools")
    guard let token = Self.text(document, "accessToken"), let expires = Self.text(document, "expiresAt"),
      let expiresAtMs = Self.timeMs(expires)
    else { throw CredentialFault("the login in the cache of AWS tools lacks its token or expiry time") }
    (self.token, self.expiresAtMs) = (token, expiresAtMs)
    if let refresh = Self.text(document, "refreshToken"), let id = Self.text(document, "clientId"),
      let secret = Self.text(document, "clientSecret"), let end = Self.text(document, "registrationExpiresAt")
    {
      renewal = Renewal(refreshToken: refresh, clientID: id, clientSecret: secret, registrationExpires: end)
    } else {
      renewal = nil
    }
  }

  private init(token: String, expiresAtMs: Int64, renewal: Renewal?) {
    (self.token, self.expiresAtMs, self.renewal) = (token, expiresAtMs, renewal)
  }

  /// Its token at `wallMs`, in milliseconds since 1970 UTC.
  /// - Throws: if it has expired.
  public func validToken(wallMs: Int64) throws(CredentialFault) -> String {
    guard expiresAtMs > wallMs else { throw Self.expired }
    return token
  }

  static let expired = CredentialFault("the login has expired; run \"aws sso login\"")

  /// Whether it is to be renewed now, and can be: the registration of the client is valid for some months.
  package func isToBeRenewed(wallMs: Int64) -> Bool {
    guard let renewal, expiresAtMs -| wallMs < Self.renewAheadMs else { return false }
    return Self.timeMs(renewal.registrationExpires).map { $0 > wallMs } ?? false
  }

  // MARK: - Renewal

  /// Source: IAM Identity Center OIDC API reference, CreateToken. The request is not signed.
  package func renewalRequest(
    _ session: AWSSingleSignOn, endpoint: String?
  ) throws(CredentialFault) -> TransferRequest {
    guard let renewal else { throw Self.expired }
    let base = try CredentialRequests.endpoint(
      endpoint, "AWS_ENDPOINT_URL_SSO_OIDC", service: "oidc", region: session.region)
    let document = Self.object([
      ("clientId", renewal.clientID), ("clientSecret", renewal.clientSecret), ("grantType", "refresh_token"),
      ("refreshToken", renewal.refreshToken),
    ])
    guard var request = TransferRequest.post("\(base)/token", json: document, fields: []) else {
      throw CredentialFault("the request for a new login is not valid")
    }
    request.limits = .control
    request.limits.maxReplyBytes = 64 << 10
    return request
  }

  /// The renewed login in the answer.
  /// - Throws: `isTransient` if the old one can be renewed later.
  package func renewed(by reply: TransferReply, wallMs: Int64) throws(CredentialFault) -> SingleSignOnLogin {
    // `invalid_grant` and the like: only a person can log in again.
    if reply.curlCode == 0, (400..<500).contains(reply.status), !TemporaryCredential.isTransient(reply.status) {
      throw Self.expired
    }
    try TemporaryCredential.check(reply, "IAM Identity Center")
    let document = try TemporaryCredential.document(reply.body, "the answer of IAM Identity Center")
    guard let token = Self.text(document, "accessToken"), case .int(let seconds)? = document["expiresIn"],
      (1...100_000_000).contains(seconds)
    else { throw CredentialFault("the answer of IAM Identity Center lacks part of the login") }
    var renewal = renewal
    if let next = Self.text(document, "refreshToken") { renewal?.refreshToken = next } else { renewal = nil }
    return SingleSignOnLogin(token: token, expiresAtMs: wallMs +| seconds * 1_000, renewal: renewal)
  }

  /// The file of the cache, with the keys of botocore. An answer without a refresh token leaves a login that cannot be
  /// renewed again. Source: botocore 1.44.8, `SSOTokenProvider._attempt_create_token`.
  package func file(of session: AWSSingleSignOn) -> [UInt8] {
    var members = [
      ("startUrl", session.startURL), ("region", session.region), ("accessToken", token),
      ("expiresAt", CivilTime(wallMs: expiresAtMs / 1_000 * 1_000).rfc3339),
    ]
    if let renewal {
      members += [
        ("clientId", renewal.clientID), ("clientSecret", renewal.clientSecret),
        ("registrationExpiresAt", renewal.registrationExpires), ("refreshToken", renewal.refreshToken),
      ]
    }
    return Self.object(members)
  }

  private static func object(_ members: [(String, String)]) -> [UInt8] {
    Array(JSONText.of(.object(members.map { JSONValue.Member(name: $0.0, value: .string($0.1)) })).utf8)
  }

  private static func text(_ document: JSONValue, _ name: String) -> String? {
    if case .string(let text)? = document[name], !text.isEmpty { text } else { nil }
  }

  /// Older versions wrote "UTC" for the zone.
  private static func timeMs(_ text: String) -> Int64? {
    CivilTime.wallMs(rfc3339: text.hasSuffix("UTC") ? text.dropLast(3) + "Z" : text)
  }
}
