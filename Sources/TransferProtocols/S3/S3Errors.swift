import TransferModel

/// An error answer of S3: its code determines the meaning if there is one, else the status.
struct S3Error {
  var code: String
  var message: String
  /// The region that the answer names, in its body or in `x-amz-bucket-region`.
  var region: String?

  /// The meaning of an error, independent of the request.
  enum Meaning: Hashable {
    case retry, throttled
    /// The sent bytes were changed on the way.
    case mismatch
    case region, clock, credential, refused, noBucket
    case sessionGone, partsWrong, exists
    /// The server does not know a field or a feature.
    case unsupported
    case permanent
  }

  init(_ reply: TransferReply) {
    let root = reply.isBodyTruncated ? nil : try? XMLElement(document: reply.body)
    self.init(reply, root: root)
  }

  init(_ reply: TransferReply, root: XMLElement?) {
    let error = root?.name == "Error" ? root : nil
    code = error?.value("Code") ?? ""
    message = error?.value("Message") ?? ""
    let named = reply.field("x-amz-bucket-region") ?? error?.value("Region")
    region = named.flatMap { S3Settings.isRegion($0) ? $0 : nil }
  }

  /// Source: "Error responses", S3 API reference; codes of MinIO and Ceph.
  func meaning(status: Int) -> Meaning {
    switch code {
    case "SlowDown", "SlowDownRead", "SlowDownWrite", "ServiceUnavailable", "Busy", "RequestLimitExceeded",
      "BandwidthLimitExceeded":
      return .throttled
    case "InternalError", "RequestTimeout", "IncompleteBody", "OperationAborted", "ConditionalRequestConflict",
      "XMinioServerNotInitialized", "PriorRequestNotComplete":
      return .retry
    case "BadDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch": return .mismatch
    case "ExpiredToken", "TokenRefreshRequired", "InvalidToken": return .credential
    case "RequestTimeTooSkewed", "RequestExpired": return .clock
    case "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect",
      "IllegalLocationConstraintException":
      return .region
    case "NoSuchUpload": return .sessionGone
    case "InvalidPart": return .partsWrong
    case "PreconditionFailed": return .exists
    case "SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidAccessKey", "NoSuchAccessKey", "InvalidClientTokenId",
      "InvalidSecurity", "NotSignedUp", "AccountProblem", "UnauthorizedAccess":
      return .refused
    case "NoSuchBucket": return .noBucket
    case "NotImplemented", "InvalidRequest", "InvalidArgument", "InvalidDigest": return .unsupported
    case "AccessDenied" where namesUnknownKey: return .refused
    case "AccessDenied", "NoSuchKey", "EntityTooLarge", "EntityTooSmall", "InvalidPartOrder",
      "MalformedXML", "KeyTooLongError", "QuotaExceeded", "MethodNotAllowed", "MissingContentLength",
      "InvalidStorageClass":
      return .permanent
    default: break
    }
    if code.hasPrefix("Throttling") || code.hasPrefix("TooManyRequests") { return .throttled }
    return Self.meaning(bare: status, hasRegion: region != nil)
  }

  /// Garage 1.0 answers AccessDenied with this message for an unknown access key.
  private var namesUnknownKey: Bool { message.hasPrefix("Forbidden: No such key") }

  /// Whether the answer to a query about one object or upload concerns all of them: a 404 then does not mean that it is
  /// gone.
  func isOfAll(status: Int) -> Bool {
    switch meaning(status: status) {
    case .noBucket, .refused, .credential: true
    default: false
    }
  }

  /// HEAD has no body, and proxies answer without a code.
  private static func meaning(bare status: Int, hasRegion: Bool) -> Meaning {
    switch StatusClass(status) {
    case .throttled: .throttled
    case .retry: .retry
    case .redirect: .region
    // An unexpected success status does not report the outcome of the request.
    case .success: .retry
    case .permanent:
      switch status {
      case 400 where hasRegion: .region
      // Whatever the cause is: an unsupported checksum field is the first suspect.
      case 400: .unsupported
      case 401: .refused
      case 412: .exists
      case 501: .unsupported
      default: .permanent
      }
    }
  }
}
