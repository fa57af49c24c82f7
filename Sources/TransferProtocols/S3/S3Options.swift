public import TransferModel

extension ProtocolOption {
  static let endpointURL = Self(
    "endpoint-url", .text, "S3 endpoint (default: $AWS_ENDPOINT_URL_S3, $AWS_ENDPOINT_URL, else AWS).", valueName: "url"
  )
  static let region = Self("region", .text, "S3 region (default: $AWS_REGION and the profile's).", valueName: "name")
  static let awsProfile = Self(
    "profile", .text, "AWS profile for credentials (default: $AWS_PROFILE).", valueName: "name")
  static let pathStyle = Self(
    "path-style", .toggle, "Bucket in the path instead of the host name (default: in the path, except for AWS).")
  static let unsignedPayload = Self(
    "unsigned-payload", .flag, "S3: do not sign the body over plain HTTP; a checksum still protects it.")
  static let keepMode = Self(
    "keep-mode", .flag, "S3: copy the permissions of files to or from the metadata of their objects (x-amz-meta-mode).")
  static let keepOwner = Self(
    "keep-owner", .flag, "S3: the same with owner and group of files, by number (x-amz-meta-uid, x-amz-meta-gid).")
}

extension BatchSettings {
  /// S3 endpoint as an `http(s)` URL without path; nil for AWS.
  public var endpointURL: String? {
    get { self[text: .endpointURL] }
    set { self[text: .endpointURL] = newValue }
  }
  public var region: String? {
    get { self[text: .region] }
    set { self[text: .region] = newValue }
  }
  /// Name of the AWS profile; nil for the default chain.
  public var awsProfile: String? {
    get { self[text: .awsProfile] }
    set { self[text: .awsProfile] = newValue }
  }
  /// nil for the default: path style for addresses, ports, `localhost` and bucket names with dots.
  public var usePathStyle: Bool? {
    get { self[toggle: .pathStyle] }
    set { self[toggle: .pathStyle] = newValue }
  }
  /// Sends `UNSIGNED-PAYLOAD` also over plain HTTP.
  public var unsignedPayload: Bool {
    get { self[flag: .unsignedPayload] }
    set { self[flag: .unsignedPayload] = newValue }
  }
  /// Objects get the permissions of their files as metadata, and downloaded files those of the metadata.
  public var keepsMode: Bool {
    get { self[flag: .keepMode] }
    set { self[flag: .keepMode] = newValue }
  }
  /// The same for owner and group.
  public var keepsOwner: Bool {
    get { self[flag: .keepOwner] }
    set { self[flag: .keepOwner] = newValue }
  }
}
