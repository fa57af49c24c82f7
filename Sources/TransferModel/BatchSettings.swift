/// What a batch was asked to do, frozen at `add`: stored with the batch, so that later edits change nothing that runs.
/// Holds references to secrets, never secrets.
public struct BatchSettings: Sendable, Hashable, Codable {
  /// Of the form in which they are stored. A program does not work by settings of a newer one, whose meaning it cannot know.
  public static let currentVersion = 1
  public private(set) var version = Self.currentVersion
  /// As typed, for example `s3://bucket/prefix/`. Never with user information; the parser refuses it.
  public var destination: String
  /// S3 endpoint as an `http(s)` URL without path; nil for AWS.
  public var endpointURL: String?
  public var region: String?
  /// Name of the AWS profile; nil for the default chain.
  public var awsProfile: String?
  /// nil chooses: path style for addresses, ports, `localhost` and bucket names with dots.
  public var usePathStyle: Bool?
  /// Sends `UNSIGNED-PAYLOAD` also over plain HTTP.
  public var unsignedPayload: Bool
  /// Bytes; nil chooses.
  public var partSize: Int64?
  /// Refuses to replace what is already there (`If-None-Match: *`).
  public var ifNoneMatch: Bool
  /// `basic=env:NAME`, `basic=file:PATH`, `bearer=env:NAME`, `bearer=file:PATH`; nil for none.
  public var auth: String?
  /// PEM file with the certificate authorities to trust instead of the system's.
  public var caFile: String?
  /// Waits for `100 Continue` before bodies.
  public var expectContinue: Bool
  /// For web destinations; nil when nothing was said.
  public var web: WebSettings?
  /// Sends a copy of the source that is made when it is added; nil for no.
  public var stage: Bool?
  /// Speaks the protocol that this profile describes, to the destination as its URL.
  public var profile: ProfileSettings?
  /// Hosts beside the destination that a profile may lead to: `HOST`, `HOST:PORT` or `*.DOMAIN`; nil for none.
  public var allowedHosts: [String]?

  public init(
    destination: String, endpointURL: String? = nil, region: String? = nil, awsProfile: String? = nil,
    usePathStyle: Bool? = nil, unsignedPayload: Bool = false, partSize: Int64? = nil, ifNoneMatch: Bool = false,
    auth: String? = nil, caFile: String? = nil, expectContinue: Bool = false, stage: Bool? = nil,
    web: WebSettings? = nil,
    profile: ProfileSettings? = nil, allowedHosts: [String]? = nil
  ) {
    self.stage = stage
    self.destination = destination
    self.endpointURL = endpointURL
    self.region = region
    self.awsProfile = awsProfile
    self.usePathStyle = usePathStyle
    self.unsignedPayload = unsignedPayload
    self.partSize = partSize
    self.ifNoneMatch = ifNoneMatch
    self.auth = auth
    self.caFile = caFile
    self.expectContinue = expectContinue
    self.web = web?.isEmpty == true ? nil : web
    self.profile = profile
    self.allowedHosts = allowedHosts?.isEmpty == true ? nil : allowedHosts
  }
}
