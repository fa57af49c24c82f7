import TransferModel

/// Signs requests by AWS Signature Version 4, in the header form.
///
/// We sign requests to S3 ourselves, because libcurl 7.88.1 neither sends `x-amz-content-sha256` nor omits `Expect`
/// (lib/http_aws_sigv4.c). Source: "Authenticating Requests: Using the Authorization Header", S3 API reference.
struct SigV4: Sendable {
  let accessKey: String
  let secretKey: String
  let region: String
  let service: String
  /// The value of `x-amz-date`.
  let date: String
  private let scope: String

  /// `wallMs` is milliseconds since 1970 UTC, by the server's clock.
  init(accessKey: String, secretKey: String, region: String, service: String = "s3", wallMs: Int64) {
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.region = region
    self.service = service
    date = CivilTime(wallMs: wallMs).basicText
    scope = "\(date.prefix(8))/\(region)/\(service)/aws4_request"
  }

  /// SHA-256 of an empty body.
  static let emptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
  /// The body is protected by TLS and a checksum field instead.
  static let unsignedPayload = "UNSIGNED-PAYLOAD"

  /// The value of `Authorization`.
  ///
  /// `path` and `query` are encoded as they are sent (the query sorted, `=` always present); `fields` are all fields to
  /// sign, including `host`, with lower-case names; `payload` is the value of `x-amz-content-sha256`.
  func authorization(
    method: String, path: String, query: String, fields: [(name: String, value: String)], payload: String
  ) -> String {
    let sorted = fields.sorted { $0.name < $1.name }
    let names = sorted.map(\.name).joined(separator: ";")
    let lines = sorted.map { "\($0.name):\(Self.trimmed($0.value))\n" }.joined()
    let canonical = "\(method)\n\(path)\n\(query)\n\(lines)\n\(names)\n\(payload)"
    let digest = hexText(RunningDigest.of(Array(canonical.utf8), .sha256).bytes)
    let toSign = "AWS4-HMAC-SHA256\n\(date)\n\(scope)\n\(digest)"
    let signature = hexText(RunningDigest.hmacSHA256(key: signingKey(), Array(toSign.utf8)))
    return "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
  }

  /// The signing key of a day, derived once: this saves four of the five HMACs of a request. Source: "Deriving a
  /// signing key", AWS IAM guide.
  private func signingKey() -> [UInt8] {
    let source = [secretKey, scope]
    if let last = Self.lastKey.withLock({ $0 }), last.source == source { return last.key }
    let key = derivedKey()
    Self.lastKey.withLock { $0 = (source, key) }
    return key
  }

  private static let lastKey = Lock<(source: [String], key: [UInt8])?>(nil)

  private func derivedKey() -> [UInt8] {
    var key = Array("AWS4\(secretKey)".utf8)
    for part in [String(date.prefix(8)), region, service, "aws4_request"] {
      key = RunningDigest.hmacSHA256(key: key, Array(part.utf8))
    }
    return key
  }

  /// Trims blanks at the ends, and reduces inner runs to one blank.
  private static func trimmed(_ value: String) -> String {
    guard value.utf8.contains(0x20) || value.utf8.contains(0x09) else { return value }
    return value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
  }
}
