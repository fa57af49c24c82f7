import CurlTransport
import TransferEngine
import TransferModel
import TransferProtocols

/// Makes destinations with libcurl as their transport; destinations with the same authorities share one.
final class CurlDestinations: DestinationResolver {
  private let transports = Lock([String: CurlTransport]())
  /// Credential sources of accounts and references, by name: batches with the same one share it.
  private let sources = Lock([String: any CredentialSource]())
  /// Connections of a transport to one origin; as many as the engine may use.
  private let connections: Int

  private let hook: CredentialHook?
  /// Used instead of libcurl; nil for libcurl.
  private let carrier: (any Transport)?

  init(
    connections: Int = EngineConfiguration.chosen.workers, hook: CredentialHook? = nil,
    carriedBy carrier: (any Transport)? = nil
  ) {
    (self.connections, self.hook, self.carrier) = (connections, hook, carrier)
  }

  func resolve(_ settings: BatchSettings) throws(TransferError) -> ResolvedDestination {
    let transferProtocol = try AllProtocols.make(settings, credentialsRegion: nil)
    let origin = try AllProtocols.origin(settings, credentialsRegion: nil)
    var resolved = ResolvedDestination(
      transferProtocol: transferProtocol, credentials: try credentials(settings),
      transport: try transport(caFile: Self.authorities(settings, origin)), host: origin.description)
    if let command = settings.download?.urlCommand, !command.isEmpty {
      resolved.urls = URLCommand(arguments: command, origin: origin)
    }
    return resolved
  }

  func host(of settings: BatchSettings) throws(TransferError) -> String {
    try AllProtocols.origin(settings, credentialsRegion: nil).description
  }

  /// The file with the authorities to trust; nil for libcurl's default. An unusable file causes one error here, not one
  /// for every file that is sent.
  private static func authorities(_ settings: BatchSettings, _ origin: WebOrigin) throws(TransferError) -> String? {
    if let file = settings.caFile {
      try TrustFile.check(file, namedBy: "--ca-file")
      return file
    }
    if origin.isTLS, let file = trustedFile { try TrustFile.check(file, namedBy: trustVariable) }
    return trustedFile
  }

  /// The variable that OpenSSL's own programs use for the same purpose; libcurl itself ignores it.
  static let trustVariable = "SSL_CERT_FILE"

  /// Certificate authorities for batches that name none; nil for libcurl's default.
  static var trustedFile: String? { Environment.value(trustVariable) }

  /// Closes all connections. Blocks until the last thread has ended.
  func stop() {
    for transport in transports.withLock({ Array($0.values) }) { transport.stop() }
  }

  private func transport(caFile: String?) throws(TransferError) -> any Transport {
    if let carrier { return carrier }
    return try transports.withLock { transports throws(TransferError) in
      if let known = transports[caFile ?? ""] { return known }
      var configuration = CurlConfiguration(userAgent: "transfers/\(TransferClient.version)", caFile: caFile)
      configuration.maxConnections = max(configuration.maxConnections, connections)
      configuration.maxIdleConnections = configuration.maxConnections
      let made = try CurlTransport(
        configuration,
        sharingRateOf: transports.values.first)
      transports[caFile ?? ""] = made
      return made
    }
  }

  private func credentials(_ settings: BatchSettings) throws(TransferError) -> any CredentialSource {
    let kind = try Destination(settings).definition.credential
    let recorded = try recordedCredentials(settings, kind)
    guard let hook else { return recorded }
    return HookedCredential(hook, for: settings.destination, Self.kind(kind, settings), otherwise: recorded)
  }

  private static func kind(
    _ kind: ProtocolDefinition.CredentialKind, _ settings: BatchSettings
  ) -> CredentialRequest.Kind {
    switch kind {
    case .aws: .aws
    case .inputs: .inputs((settings.profile?.secrets ?? [:]).keys.sorted())
    case .reference: .http
    }
  }

  private func recordedCredentials(
    _ settings: BatchSettings, _ kind: ProtocolDefinition.CredentialKind
  ) throws(TransferError) -> any CredentialSource {
    switch kind {
    case .aws: return shared("aws:\(settings.awsProfile ?? "")", AWSCredentials(profile: settings.awsProfile))
    case .inputs:
      guard let profile = settings.profile else { return NoCredential() }
      return try ProfileSecrets(profile)
    case .reference:
      guard let text = settings.auth else { return NoCredential() }
      let reference = try CredentialReference(parsing: text)
      return shared("reference:\(text)", ReferencedCredential(reference))
    }
  }

  private func shared(_ name: String, _ new: @autoclosure () -> any CredentialSource) -> any CredentialSource {
    sources.withLock { sources in
      if let known = sources[name] { return known }
      let made = new()
      sources[name] = made
      return made
    }
  }
}

/// For destinations that need no credentials.
final class NoCredential: CredentialSource {
  var held: HeldCredential? { HeldCredential(nil) }
  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential? { nil }
  func refresh() {}
  var label: String { "" }
}
