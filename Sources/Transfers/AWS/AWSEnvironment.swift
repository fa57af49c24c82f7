import TransferEngine
import TransferModel
import TransferProtocols

/// What the environment and the shared files of AWS tools say, in the order of botocore: the keys of an explicitly
/// named profile and of no other place; else those of the environment, then those of the profile of `AWS_PROFILE` or
/// `default`.
struct AWSEnvironment: Sendable {
  private let environment: AWSProfile
  private let profile: AWSProfile?
  private let profileName: String
  private let isProfileNamed: Bool

  /// Reads environment and files now. Blocking.
  /// - Throws: `.config` for a file that cannot be understood or a named profile that does not exist.
  init(profile named: String?) throws(TransferError) {
    environment = Self.variables()
    profileName = named ?? Environment.value("AWS_PROFILE") ?? "default"
    isProfileNamed = named != nil
    profile = try Self.profile(profileName)
    if named != nil && profile == nil {
      throw TransferError(
        .config, "read AWS profile", NameBytes(profileName), cause: "there is no such profile",
        remedy: "check \(Self.path("AWS_SHARED_CREDENTIALS_FILE", "credentials"))")
    }
  }

  /// The keys to sign with; nil when there are none anywhere.
  var credential: Credential? {
    isProfileNamed ? profile?.credential : environment.credential ?? profile?.credential
  }

  /// Names of the variables that ``credential`` comes from.
  var variables: [String] {
    guard !isProfileNamed, let credential = environment.credential else { return [] }
    guard case .aws(_, _, let token) = credential, token != nil else { return Self.keyVariables }
    return Self.keyVariables + Self.tokenVariables.filter { Environment.value($0) != nil }.prefix(1)
  }

  private static let keyVariables = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
  private static let tokenVariables = ["AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN"]

  /// Where the keys are found, by name.
  var origin: String {
    !isProfileNamed && environment.credential != nil
      ? "the environment (AWS_ACCESS_KEY_ID)" : "the profile \"\(profileName)\""
  }

  /// A key without its other half; nil when both or none are there.
  var problem: String? {
    switch (environment.accessKey, environment.secretKey) {
    case (.some, nil): "AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not"
    case (nil, .some): "AWS_SECRET_ACCESS_KEY is set, AWS_ACCESS_KEY_ID is not"
    default: nil
    }
  }

  /// Endpoint and region that a batch keeps: flags win over the environment, which wins over the profile.
  func completing(_ asked: BatchSettings) -> BatchSettings {
    var settings = asked
    settings.endpointURL = asked.endpointURL ?? environment.endpointURL ?? profile?.endpointURL
    settings.region = asked.region ?? environment.region ?? profile?.region
    return settings
  }

  /// For messages: where was looked.
  var searched: String {
    (isProfileNamed ? "" : "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and ") + "the profile \"\(profileName)\" of "
      + "\(Self.path("AWS_SHARED_CREDENTIALS_FILE", "credentials")) and \(Self.path("AWS_CONFIG_FILE", "config"))"
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
      throw TransferError(.config, "read", NameBytes(path), cause: "it is not UTF-8 text")
    }
    return text
  }

  private static func path(_ variable: String, _ file: String) -> String {
    Environment.value(variable) ?? "\(Environment.value("HOME") ?? "")/.aws/\(file)"
  }
}

/// The keys of the AWS chain, read when first needed and again after the server refused them as expired.
final class AWSCredentials: CredentialSource {
  private let profile: String?
  private let cache = Lock<Credential?>(nil)

  init(profile: String?) { self.profile = profile }

  var label: String { "aws:\(profile ?? "default chain")" }

  func credential() throws(Failure) -> Credential? {
    if let known = cache.withLock({ $0 }) { return known }
    do throws(TransferError) {
      let environment = try AWSEnvironment(profile: profile)
      guard let fresh = environment.credential else {
        throw TransferError(.auth, "read the credentials", cause: "none found in \(environment.searched)")
      }
      cache.withLock { $0 = fresh }
      return fresh
    } catch {
      throw Failure(.authMissing, error.cause)
    }
  }

  func refresh() { cache.withLock { $0 = nil } }
}
