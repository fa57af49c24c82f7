import TransferEngine
import TransferModel
import TransferProtocols

/// The AWS settings in the environment and in the shared files of AWS tools, in the order of botocore: the keys of the
/// environment, unless a profile is named explicitly; the profile, else that of `AWS_PROFILE` or `default`; a web
/// identity of the environment; the endpoint of a container; the metadata of an instance.
/// Source: botocore 1.44.5, `create_credential_resolver`.
struct AWSEnvironment: Sendable {
  private let environment: AWSProfile
  private let profile: AWSProfile?
  private let profileName: String
  private let isProfileNamed: Bool

  /// Reads environment and files immediately. Blocking.
  /// - Throws: `.config` for an invalid file or a named profile that does not exist.
  init(profile named: String?) throws(TransferError) {
    environment = Self.variables()
    let asked = named ?? Environment.value("AWS_PROFILE")
    profileName = asked ?? "default"
    isProfileNamed = named != nil
    profile = try Self.profile(profileName)
    // A requested identity must not be replaced by another one. Keys of the environment precede `AWS_PROFILE`.
    if asked != nil, profile == nil, isProfileNamed || environment.credential == nil {
      throw TransferError(
        .config, "read AWS profile", NameBytes(profileName), cause: "there is no such profile",
        remedy: "check \(Self.path("AWS_SHARED_CREDENTIALS_FILE", "credentials"))")
    }
  }

  /// Where the credential comes from; nil when none is configured.
  var source: AWSCredentialSource? {
    if !isProfileNamed, environment.credential != nil { return .environment }
    if case .role? = profile?.source { return profile?.source }
    if !isProfileNamed, let webIdentity = Self.webIdentity { return webIdentity }
    if let source = profile?.source { return source }
    if Self.hasContainer { return .container }
    return Self.hasInstance ? .instance : nil
  }

  /// The keys of the environment; nil when one is missing.
  var keys: Credential? { environment.credential }

  /// The endpoint of AWS STS.
  /// - Throws: `.usage` or `.config` for an invalid endpoint or region.
  func tokenService() throws(TransferError) -> TokenServiceEndpoint {
    try TokenServiceEndpoint(
      named: Environment.value("AWS_ENDPOINT_URL_STS") ?? Environment.value("AWS_ENDPOINT_URL")
        ?? profile?.endpointURL, region: environment.region ?? profile?.region)
  }

  private static var webIdentity: AWSCredentialSource? {
    guard let file = Environment.value("AWS_WEB_IDENTITY_TOKEN_FILE"), let arn = Environment.value("AWS_ROLE_ARN")
    else { return nil }
    return .webIdentity(
      AWSRole(arn: arn, sessionName: Environment.value("AWS_ROLE_SESSION_NAME")), tokenFile: file)
  }

  private static var hasContainer: Bool {
    Environment.value("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != nil
      || Environment.value("AWS_CONTAINER_CREDENTIALS_FULL_URI") != nil
  }

  /// Whether to query instance metadata. It is queried only on an instance: elsewhere nothing answers at that address,
  /// or a host that must not be queried.
  private static var hasInstance: Bool {
    guard !InstanceMetadata.isDisabled else { return false }
    return Environment.value(InstanceMetadata.endpointVariable) != nil || InstanceMetadata.isOnInstance
  }

  /// Names of the variables that contain ``source``.
  var variables: [String] {
    guard source == .environment else { return [] }
    guard case .aws(_, _, let token)? = environment.credential, token != nil else { return Self.keyVariables }
    return Self.keyVariables + Self.tokenVariables.filter { Environment.value($0) != nil }.prefix(1)
  }

  private static let keyVariables = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
  private static let tokenVariables = ["AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN"]

  /// The name of the place where the credential was found; nil when there is none.
  var origin: String? {
    switch source {
    case nil: nil
    case .environment: "the environment (AWS_ACCESS_KEY_ID)"
    case .keys: "the profile \"\(profileName)\""
    case .some(let source) where source == profile?.source: "the profile \"\(profileName)\" (\(source.label))"
    case .some(let source): source.label
    }
  }

  /// Reports that only one of the two keys is set; nil when both or neither are set.
  var problem: String? {
    switch (environment.accessKey, environment.secretKey) {
    case (.some, nil): "AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not"
    case (nil, .some): "AWS_SECRET_ACCESS_KEY is set, AWS_ACCESS_KEY_ID is not"
    default: nil
    }
  }

  /// Adds the endpoint and region that a batch stores: flags take precedence over the environment, which takes
  /// precedence over the profile.
  func completing(_ asked: BatchSettings) -> BatchSettings {
    var settings = asked
    settings.endpointURL = asked.endpointURL ?? environment.endpointURL ?? profile?.endpointURL
    settings.region = asked.region ?? environment.region ?? profile?.region
    return settings
  }

  /// The places that were searched, for messages.
  var searched: String {
    (isProfileNamed ? "" : "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and ") + "the profile \"\(profileName)\" of "
      + "\(Self.path("AWS_SHARED_CREDENTIALS_FILE", "credentials")) and \(Self.path("AWS_CONFIG_FILE", "config"))"
      + "; no container or instance provides one"
  }

  private static func variables() -> AWSProfile {
    var found = AWSProfile()
    found.accessKey = Environment.value("AWS_ACCESS_KEY_ID")
    found.secretKey = Environment.value("AWS_SECRET_ACCESS_KEY")
    found.sessionToken = Environment.value("AWS_SESSION_TOKEN") ?? Environment.value("AWS_SECURITY_TOKEN")
    found.region = Environment.value("AWS_REGION") ?? Environment.value("AWS_DEFAULT_REGION")
    found.endpointURL = Environment.value("AWS_ENDPOINT_URL_S3") ?? Environment.value("AWS_ENDPOINT_URL")
    return found
  }

  private static func profile(_ name: String) throws(TransferError) -> AWSProfile? {
    let credentials = try text(path("AWS_SHARED_CREDENTIALS_FILE", "credentials"))
    let config = try text(path("AWS_CONFIG_FILE", "config"))
    guard credentials != nil || config != nil else { return nil }
    return try CredentialFiles(credentials: credentials, config: config).profile(name)
  }

  private static func text(_ path: String) throws(TransferError) -> String? {
    guard let bytes = FileText.bytes(path) else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw TransferError(
        .config, "read", NameBytes(path), cause: "it is not UTF-8 text", remedy: "save it as UTF-8")
    }
    return text
  }

  private static func path(_ variable: String, _ file: String) -> String {
    Environment.value(variable) ?? "\(Environment.value("HOME") ?? "")/.aws/\(file)"
  }
}
