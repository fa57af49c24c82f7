import HTTPTypes
public import TransferModel

/// The requests for AWS credentials; pure, like those of a protocol. None of their URLs contains a secret.
public enum CredentialRequests {
  /// Source: AWS STS API reference, AssumeRole; version 2011-06-15.
  package static func assumeRole(
    _ role: AWSRole, sessionName: String, with credential: Credential, _ endpoint: TokenServiceEndpoint, wallMs: Int64
  ) throws(CredentialFault) -> TransferRequest {
    guard case .aws(let accessKey, let secretKey, let token) = credential else {
      throw CredentialFault("a role needs an access key")
    }
    let body = form("AssumeRole", role, sessionName)
    var request = post(body, endpoint)
    let signer = SigV4(
      accessKey: accessKey, secretKey: secretKey, region: endpoint.region, service: "sts", wallMs: wallMs)
    let payload = hexText(RunningDigest.of(body, .sha256).bytes)
    var fields = [
      (name: "content-type", value: formType), ("host", endpoint.origin.authority), ("x-amz-date", signer.date),
    ]
    if let token { fields.append(("x-amz-security-token", token)) }
    let authorization = signer.authorization(method: "POST", path: "/", query: "", fields: fields, payload: payload)
    request.fields[.authorization] = authorization
    request.fields[field("x-amz-date")] = signer.date
    request.fields[field("x-amz-security-token")] = token
    return request
  }

  /// Source: AWS STS API reference, AssumeRoleWithWebIdentity: the token is the credential, so the request is not
  /// signed.
  package static func assumeRole(
    _ role: AWSRole, sessionName: String, webIdentity token: String, _ endpoint: TokenServiceEndpoint
  ) -> TransferRequest {
    post(form("AssumeRoleWithWebIdentity", role, sessionName, [("WebIdentityToken", token)]), endpoint)
  }

  /// The credential in the answer of STS. Errors are reported with their code and message.
  package static func credential(of reply: TransferReply) throws(CredentialFault) -> TemporaryCredential {
    let root = try? XMLElement(document: reply.body)
    if reply.curlCode == 0, reply.status != 200, let error = root?["Error"] {
      let text = [error.value("Code"), error.value("Message")].compactMap(\.self).joined(separator: ": ")
      let isThrottled = error.value("Code").map { $0.hasPrefix("Throttl") || $0 == "IDPCommunicationError" } ?? false
      throw CredentialFault(
        "AWS STS answered \(reply.status) \(TemporaryCredential.shown(text))",
        isTransient: isThrottled || TemporaryCredential.isTransient(reply.status))
    }
    try TemporaryCredential.check(reply, "AWS STS")
    let result = root?.children.first { $0.name.hasSuffix("Result") }
    guard let found = result?["Credentials"], let key = found.value("AccessKeyId"),
      let secret = found.value("SecretAccessKey"), let token = found.value("SessionToken"),
      let expiresAtMs = found.value("Expiration").flatMap({ CivilTime.wallMs(rfc3339: $0) })
    else { throw CredentialFault("the answer of AWS STS lacks part of the credential") }
    return TemporaryCredential(.aws(accessKey: key, secretKey: secret, sessionToken: token), expiresAtMs: expiresAtMs)
  }

  /// Source: IAM Identity Center portal API reference, GetRoleCredentials.
  package static func roleCredentials(
    of session: AWSSingleSignOn, token: String, endpoint: String?
  ) throws(CredentialFault) -> TransferRequest {
    let base = try Self.endpoint(endpoint, "AWS_ENDPOINT_URL_SSO", service: "portal.sso", region: session.region)
    let query =
      "role_name=\(PercentEncoding.component(session.role))&account_id=\(PercentEncoding.component(session.account))"
    var request = get("\(base)/federation/credentials?\(query)", [("x-amz-sso_bearer_token", token)])
    request.limits = .control
    return request
  }

  /// The endpoint of a service of IAM Identity Center: the one of this variable, or that of the region.
  static func endpoint(
    _ named: String?, _ variable: String, service: String, region: String
  ) throws(CredentialFault) -> String {
    guard S3Settings.isRegion(region) else { throw CredentialFault("sso_region is not a region") }
    guard var named else { return "https://\(service).\(region).\(TokenServiceEndpoint.suffix(region))" }
    // The token gives full access to the login.
    guard
      named.hasPrefix("https://")
        || (try? S3Settings.endpoint(named)).map({ ContainerEndpoint.isOfThisMachine($0) }) == true
    else { throw CredentialFault("\(variable) is plain HTTP to another machine; use https") }
    while named.hasSuffix("/") { named.removeLast() }
    return named
  }

  /// A request to the endpoint of a container or an instance, which answers at once or not at all.
  package static func get(_ url: String, _ fields: [(name: String, value: String)]) -> TransferRequest {
    var request = TransferRequest(method: .get, url: url, limits: local)
    request.fields[.accept] = "application/json"
    for one in fields { request.fields[field(one.name)] = one.value }
    return request
  }

  /// Source: EC2 user guide, "Use the Instance Metadata Service to access instance metadata", version 2.
  package static func metadataToken(_ base: String) -> TransferRequest {
    var request = TransferRequest(method: .put, url: "\(base)/latest/api/token", body: .bytes([]), limits: local)
    request.fields[field("x-aws-ec2-metadata-token-ttl-seconds")] = "21600"
    return request
  }

  private static let local = RequestLimits(connectMs: 1_000, stallMs: 0, totalMs: 5_000, maxReplyBytes: 64 << 10)
  private static let formType = "application/x-www-form-urlencoded; charset=utf-8"

  private static func field(_ name: String) -> HTTPField.Name {
    guard let name = HTTPField.Name(name) else { preconditionFailure("no field name: \(name)") }
    return name
  }

  private static func post(_ body: [UInt8], _ endpoint: TokenServiceEndpoint) -> TransferRequest {
    var request = TransferRequest(method: .post, url: "\(endpoint.origin)/", body: .bytes(body))
    request.limits.maxReplyBytes = 64 << 10
    request.fields[.contentType] = formType
    return request
  }

  private static func form(
    _ action: String, _ role: AWSRole, _ sessionName: String, _ more: [(String, String)] = []
  ) -> [UInt8] {
    var pairs = [
      ("Action", action), ("Version", "2011-06-15"), ("RoleArn", role.arn),
      ("RoleSessionName", role.sessionName ?? sessionName),
    ]
    if let seconds = role.durationSeconds { pairs.append(("DurationSeconds", String(seconds))) }
    if let id = role.externalID { pairs.append(("ExternalId", id)) }
    let text = (pairs + more).map { "\($0.0)=\(PercentEncoding.component($0.1))" }.joined(separator: "&")
    return Array(text.utf8)
  }
}

/// The endpoint of AWS STS.
public struct TokenServiceEndpoint: Sendable, Hashable {
  public var origin: WebOrigin
  /// The region for which requests are signed.
  public var region: String

  /// An explicitly configured endpoint takes precedence; otherwise the region's is used, and without a region the
  /// global one.
  /// Source: AWS SDKs and Tools Reference Guide, "AWS STS Regional endpoints".
  /// - Throws: `.usage` for an invalid endpoint, `.config` for a region that cannot be part of a host name.
  public init(named: String?, region: String?) throws(TransferError) {
    self.region = region ?? "us-east-1"
    guard S3Settings.isRegion(self.region) else {
      throw TransferError(
        .config, "read region", NameBytes(self.region), cause: "a region has letters, digits and \"-\" only",
        remedy: "correct AWS_REGION or the profile")
    }
    if let named {
      origin = try S3Settings.endpoint(named)
    } else {
      let host = region.map { "sts.\($0).\(Self.suffix($0))" } ?? "sts.amazonaws.com"
      origin = WebOrigin(isTLS: true, host: host)
    }
  }

  /// China is a separate partition.
  static func suffix(_ region: String) -> String { region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com" }
}
