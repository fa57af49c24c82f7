import CurlTransport
import TransferEngine
import TransferModel
import TransferProtocols

/// Obtains an AWS credential from its source: variables, files, programs, or services that are queried over HTTP.
/// Blocking; for one use.
final class AWSCredentialFetch {
  /// Delays before retries after a transient failure, in milliseconds: a service that is unavailable for some seconds
  /// does not end a run.
  static let pausesMs: [Int64] = [500, 1_000, 2_000]
  /// Instance metadata returns expired credentials while its own source is unavailable; they are used for at least this
  /// long, in milliseconds.
  static let leastOfInstanceMs: Int64 = 600_000

  private let environment: AWSEnvironment
  let clock: any TransferClock
  let isOver: @Sendable () -> Bool
  private var transports: [Bool: CurlTransport] = [:]
  private var number: UInt64 = 0

  /// - Parameter isOver: called several times a second; true when nobody waits any longer.
  init(_ environment: AWSEnvironment, _ clock: any TransferClock, isOver: @escaping @Sendable () -> Bool) {
    (self.environment, self.clock, self.isOver) = (environment, clock, isOver)
  }

  deinit { for transport in transports.values { transport.stop() } }

  /// - Throws: a description of the problem, without secrets.
  func fetch(_ source: AWSCredentialSource) throws(CredentialFault) -> TemporaryCredential {
    switch source {
    case .keys(let credential): return TemporaryCredential(credential)
    case .environment:
      guard let keys = environment.keys else { throw CredentialFault("AWS_ACCESS_KEY_ID is not set") }
      return TemporaryCredential(keys)
    case .role(let role, let source):
      let credential = try fetch(source).credential
      let service = try service("a request signed with account keys")
      return try tokens { [clock, sessionName] () throws(CredentialFault) in
        try CredentialRequests.assumeRole(
          role, sessionName: sessionName, with: credential, service, wallMs: clock.civilMs)
      }
    case .webIdentity(let role, let file):
      let service = try service("the web identity token")
      let token = try text(ofFile: file, "the web identity token")
      let request = CredentialRequests.assumeRole(
        role, sessionName: sessionName, webIdentity: token, service)
      return try tokens { () throws(CredentialFault) in request }
    case .singleSignOn(let session): return try SingleSignOnFetch(session: session, fetch: self).credential()
    case .process(let words): return try process(words)
    case .container: return try container()
    case .instance: return try instance()
    }
  }

  // MARK: - Services

  private var sessionName: String { "transfers-\(clock.civilMs / 1_000)" }

  /// - Parameter secret: the secret that the requests or their answers contain, for messages.
  private func service(_ secret: String) throws(CredentialFault) -> TokenServiceEndpoint {
    let service: TokenServiceEndpoint
    do throws(TransferError) { service = try environment.tokenService() } catch {
      throw CredentialFault("\(error.operation) \"\(error.subject.embedded)\": \(error.cause)")
    }
    guard service.origin.isTLS || ContainerEndpoint.isOfThisMachine(service.origin) else {
      throw CredentialFault(
        "\(secret) would go over plain HTTP to \(service.origin); set AWS_ENDPOINT_URL_STS to an https URL")
    }
    return service
  }

  /// Builds and signs the request anew for each try.
  private func tokens(
    _ request: () throws(CredentialFault) -> TransferRequest
  ) throws(CredentialFault) -> TemporaryCredential {
    try patiently { () throws(CredentialFault) in
      try CredentialRequests.credential(of: exchange(try request(), isLocal: false))
    }
  }

  // MARK: - This machine

  private func process(_ words: [String]) throws(CredentialFault) -> TemporaryCredential {
    let output: [UInt8]
    do throws(Failure) {
      output = try RunningCommand.credential(words, isOver: isOver)
    } catch {
      throw CredentialFault("credential_process: \(error.message)", isTransient: error.retryAfterMs != nil)
    }
    return try TemporaryCredential(ofProcess: output)
  }

  private func container() throws(CredentialFault) -> TemporaryCredential {
    let url = try ContainerEndpoint.url(
      relative: Environment.value("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
      full: Environment.value("AWS_CONTAINER_CREDENTIALS_FULL_URI"))
    guard let url else { throw CredentialFault("no variable contains the endpoint of a container") }
    var token = Environment.value("AWS_CONTAINER_AUTHORIZATION_TOKEN")
    if let file = Environment.value("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
      token = try text(ofFile: file, "the authorization token of the container")
    }
    guard token.map({ !$0.utf8.contains { $0 < 0x20 } }) ?? true else {
      throw CredentialFault("the authorization token of the container contains a line end")
    }
    let request = CredentialRequests.get(url, token.map { [("Authorization", $0)] } ?? [])
    return try patiently { () throws(CredentialFault) in
      try TemporaryCredential(ofEndpoint: exchange(request, isLocal: !url.hasPrefix("https:")))
    }
  }

  private func instance() throws(CredentialFault) -> TemporaryCredential {
    guard !InstanceMetadata.isDisabled else { throw CredentialFault("AWS_EC2_METADATA_DISABLED is true") }
    let base = InstanceMetadata.base
    let name = "the metadata service of the instance"
    let found = try patiently { () throws(CredentialFault) -> TemporaryCredential in
      let token = exchange(CredentialRequests.metadataToken(base), isLocal: true)
      try TemporaryCredential.check(token, name)
      let fields = [("x-aws-ec2-metadata-token", String(decoding: token.body, as: UTF8.self))]
      let list = "\(base)/latest/meta-data/iam/security-credentials/"
      let roles = exchange(CredentialRequests.get(list, fields), isLocal: true)
      if roles.curlCode == 0, roles.status == 404 { throw CredentialFault("the instance has no role") }
      try TemporaryCredential.check(roles, name)
      let lines = String(decoding: roles.body, as: UTF8.self).split(whereSeparator: \.isNewline)
      guard let role = lines.first.map(String.init), Self.isRoleName(role) else {
        throw CredentialFault("the instance has no role")
      }
      return try TemporaryCredential(ofEndpoint: exchange(CredentialRequests.get(list + role, fields), isLocal: true))
    }
    guard let endMs = found.expiresAtMs else { return found }
    return TemporaryCredential(
      found.credential, expiresAtMs: max(endMs, clock.civilMs + Self.leastOfInstanceMs))
  }

  /// Source: IAM API reference, "RoleName".
  private static func isRoleName(_ text: String) -> Bool {
    text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2C, 0x2D, 0x2E, 0x3D, 0x40, 0x5F: true
      default: false
      }
    }
  }

  private func text(ofFile path: String, _ meaning: String) throws(CredentialFault) -> String {
    guard let bytes = FileText.bytes(path), let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
      throw CredentialFault("\(meaning) cannot be read: \(path)")
    }
    return String(text.reversed().drop(while: \.isNewline).reversed())
  }

  // MARK: - Requests

  /// Retries after a delay if the failure is transient.
  func patiently<Value>(
    _ ask: () throws(CredentialFault) -> Value
  ) throws(CredentialFault) -> Value {
    for pauseMs in Self.pausesMs {
      do throws(CredentialFault) { return try ask() } catch {
        guard error.isTransient, !isOver() else { throw error }
        _ = Mailbox<Bool>().take(timeoutMs: pauseMs)
      }
    }
    return try ask()
  }

  func exchange(_ request: TransferRequest, isLocal: Bool) -> TransferReply {
    let transport: CurlTransport
    do throws(TransferError) { transport = try self.transport(isLocal: isLocal) } catch {
      var reply = TransferReply()
      (reply.curlCode, reply.curlMessage) = (-1, error.cause)
      return reply
    }
    number += 1
    let (id, replies) = (ExchangeID(rawValue: number), Mailbox<TransferReply>())
    transport.start(id, request) { replies.put($0) }
    if let reply = try? replies.take(until: isOver) { return reply }
    transport.cancel(id)
    return replies.take()?.first ?? TransferReply()
  }

  private func transport(isLocal: Bool) throws(TransferError) -> CurlTransport {
    if let known = transports[isLocal] { return known }
    var configuration = CurlConfiguration(
      userAgent: "transfers/\(TransferClient.version)", caFile: CurlDestinations.trustedFile)
    configuration.ignoresProxies = isLocal
    let made = try CurlTransport(configuration)
    transports[isLocal] = made
    return made
  }
}
