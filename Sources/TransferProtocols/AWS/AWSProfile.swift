/// What a profile of the AWS files says.
public struct AWSProfile: Sendable, Hashable, CustomStringConvertible {
  public var accessKey: String?
  public var secretKey: String?
  public var sessionToken: String?
  public var region: String?
  public var endpointURL: String?
  /// Where its credential comes from; nil when it says nothing about one.
  public var source: AWSCredentialSource?

  public init() {}

  /// Without secrets.
  public var description: String { "aws profile (region \(region ?? "none"), credentials hidden)" }

  /// The keys that are written down; nil when one is missing.
  public var credential: Credential? {
    guard let accessKey, let secretKey else { return nil }
    return .aws(accessKey: accessKey, secretKey: secretKey, sessionToken: sessionToken)
  }
}

/// A way to a credential of AWS.
public indirect enum AWSCredentialSource: Sendable, Hashable {
  case keys(Credential)
  /// `AWS_ACCESS_KEY_ID` and its companions.
  case environment
  /// AssumeRole, with the credential of another source.
  case role(AWSRole, AWSCredentialSource)
  /// AssumeRoleWithWebIdentity, with the token in a file that somebody else keeps fresh.
  case webIdentity(AWSRole, tokenFile: String)
  case singleSignOn(AWSSingleSignOn)
  /// `credential_process`: a program and its arguments.
  case process([String])
  /// The endpoint that ECS and EKS name in the environment.
  case container
  /// The metadata service of an EC2 instance.
  case instance

  /// What it is for people, without secrets.
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

/// A role to take, and how.
public struct AWSRole: Sendable, Hashable {
  public var arn: String
  /// Names the session in the logs of AWS; nil gets a name of ours.
  public var sessionName: String?
  public var externalID: String?
  /// How long the credential is to be valid, in seconds; nil leaves that to the service.
  public var durationSeconds: Int?

  public init(arn: String, sessionName: String? = nil, externalID: String? = nil, durationSeconds: Int? = nil) {
    (self.arn, self.sessionName) = (arn, sessionName)
    (self.externalID, self.durationSeconds) = (externalID, durationSeconds)
  }
}

/// A role of IAM Identity Center, for whoever `aws sso login` logged in.
public struct AWSSingleSignOn: Sendable, Hashable {
  public var account: String
  public var role: String
  public var region: String
  public var startURL: String
  /// The name of its `sso-session` section; nil where the profile says all.
  public var session: String?

  public init(account: String, role: String, region: String, startURL: String, session: String? = nil) {
    (self.account, self.role, self.region) = (account, role, region)
    (self.startURL, self.session) = (startURL, session)
  }

  /// What the name of the file in `~/.aws/sso/cache` is the SHA-1 of, in hexadecimal digits before `.json`.
  /// Source: botocore 1.44.5, `SSOTokenLoader`.
  public var cacheKey: String { session ?? startURL }
}
