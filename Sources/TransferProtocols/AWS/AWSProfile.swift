/// The settings of a profile in the AWS files.
public struct AWSProfile: Sendable, Hashable, CustomStringConvertible {
  public var accessKey: String?
  public var secretKey: String?
  public var sessionToken: String?
  public var region: String?
  public var endpointURL: String?
  /// Where its credential comes from; nil if the profile does not say.
  public var source: AWSCredentialSource?

  public init() {}

  /// Contains no secrets.
  public var description: String { "aws profile (region \(region ?? "none"), credentials hidden)" }

  /// The keys in the profile itself; nil if one is missing.
  public var credential: Credential? {
    guard let accessKey, let secretKey else { return nil }
    return .aws(accessKey: accessKey, secretKey: secretKey, sessionToken: sessionToken)
  }
}

/// A way to get an AWS credential.
public indirect enum AWSCredentialSource: Sendable, Hashable {
  case keys(Credential)
  /// `AWS_ACCESS_KEY_ID` and its companions.
  case environment
  /// AssumeRole, with the credential of another source.
  case role(AWSRole, AWSCredentialSource)
  /// AssumeRoleWithWebIdentity, with the token in a file that another program keeps current.
  case webIdentity(AWSRole, tokenFile: String)
  case singleSignOn(AWSSingleSignOn)
  /// `credential_process`: a program and its arguments.
  case process([String])
  /// The endpoint that ECS and EKS set in the environment.
  case container
  /// The metadata service of an EC2 instance.
  case instance

  /// A description for people, without secrets.
  public var label: String {
    switch self {
    case .keys: "access key"
    case .environment: "environment"
    case .role(let role, let source): "role \(role.arn) by \(source.label)"
    case .webIdentity(let role, _): "role \(role.arn) by web identity"
    case .singleSignOn(let session): "single sign-on as \(session.role) in account \(session.account)"
    case .process: "credential_process"
    case .container: "container credentials"
    case .instance: "instance metadata"
    }
  }
}

/// A role to assume, and its parameters.
public struct AWSRole: Sendable, Hashable {
  public var arn: String
  /// The name of the session in AWS logs; nil for a default name.
  public var sessionName: String?
  public var externalID: String?
  /// Requested lifetime of the credential, in seconds; nil for the service's default.
  public var durationSeconds: Int?

  public init(arn: String, sessionName: String? = nil, externalID: String? = nil, durationSeconds: Int? = nil) {
    (self.arn, self.sessionName) = (arn, sessionName)
    (self.externalID, self.durationSeconds) = (externalID, durationSeconds)
  }
}

/// A role of IAM Identity Center, for the user that `aws sso login` logged in.
public struct AWSSingleSignOn: Sendable, Hashable {
  public var account: String
  public var role: String
  public var region: String
  public var startURL: String
  /// The name of its `sso-session` section; nil if the profile itself has all settings.
  public var session: String?

  public init(account: String, role: String, region: String, startURL: String, session: String? = nil) {
    (self.account, self.role, self.region) = (account, role, region)
    (self.startURL, self.session) = (startURL, session)
  }

  /// The text whose SHA-1 in hexadecimal digits, followed by `.json`, is the file name in `~/.aws/sso/cache`.
  /// Source: botocore 1.44.5, `SSOTokenLoader`.
  public var cacheKey: String { session ?? startURL }
}
