import TransferModel

/// One bucket at one endpoint, and how requests to it are made.
struct S3Settings: Sendable, Hashable {
  var bucket: String
  /// nil for AWS, where the region determines the host.
  var endpoint: WebOrigin?
  var region: String
  var usesPathStyle: Bool
  /// Never signs the payload with SHA-256, even over plain HTTP.
  var unsignedPayload: Bool
  var partSize: Int64?
  var ifNoneMatch: Bool
  var expectContinue: Bool
  var mediaType: MediaTypeChoice

  /// - Throws: `.usage` for an invalid endpoint or media type, `.config` for a region that is invalid in a host name.
  init(bucket: String, _ batch: BatchSettings, credentialsRegion: String?) throws(TransferError) {
    self.bucket = bucket
    endpoint = try batch.endpointURL.map(Self.endpoint)
    region = batch.region ?? credentialsRegion ?? "us-east-1"
    usesPathStyle = batch.usePathStyle ?? (endpoint.map { !Self.isAWS($0) } ?? false || !Self.isHostLabel(bucket))
    unsignedPayload = batch.unsignedPayload
    partSize = batch.partSize
    ifNoneMatch = batch.ifNoneMatch
    expectContinue = batch.expectContinue
    mediaType = try MediaTypeChoice(parsing: batch.contentType ?? MediaType.unknown)
    guard Self.isRegion(region) else {
      throw TransferError(
        .config, "read region", NameBytes(region), cause: "a region has letters, digits and \"-\" only",
        remedy: "correct --region, AWS_REGION or the profile")
    }
  }

  var isTLS: Bool { endpoint?.isTLS ?? true }
  /// Whether the body's SHA-256 is part of the signature; otherwise a checksum field and TLS protect it.
  var signsPayload: Bool { !isTLS && !unsignedPayload }

  /// The origin of requests; `learned` is the region that the server named.
  func origin(learned: String?) -> WebOrigin {
    let base = endpoint ?? Self.awsOrigin(learned ?? region)
    return usesPathStyle ? base : WebOrigin(isTLS: base.isTLS, host: "\(bucket).\(base.host)", port: base.port)
  }

  /// The encoded path of `key`; the path of the bucket itself if it is empty.
  func path(_ key: NameBytes) -> String {
    let encoded = PercentEncoding.path(key.bytes)
    guard usesPathStyle else { return "/" + encoded }
    return key.isEmpty ? "/\(bucket)" : "/\(bucket)/\(encoded)"
  }

  /// Stable, without secrets, different for every pair of endpoint and bucket.
  func location(_ key: NameBytes) -> String {
    guard let endpoint else { return "s3://\(bucket)/\(key)" }
    return "s3+\(endpoint)/\(bucket)/\(key)"
  }

  var keyPlace: String { endpoint.map { "s3+\($0.place)/\(bucket)/" } ?? location(NameBytes("")) }

  /// A bucket of AWS is the same one at each endpoint, except in China.
  var site: String {
    guard let endpoint, Self.isAWS(endpoint), !endpoint.host.hasSuffix(".cn"), !endpoint.host.contains("us-gov-")
    else { return keyPlace }
    return "s3://\(bucket)/"
  }

  /// Source: AWS General Reference, "Amazon S3 endpoints and quotas"; China is a partition of its own.
  private static func awsOrigin(_ region: String) -> WebOrigin {
    WebOrigin(isTLS: true, host: "s3.\(region).\(TokenServiceEndpoint.suffix(region))")
  }

  static func endpoint(_ text: String) throws(TransferError) -> WebOrigin {
    func fault(_ cause: String, _ remedy: String) -> TransferError {
      let shown = text.utf8.contains(0x40) ? "…" : text
      return TransferError(.usage, "read endpoint", NameBytes(shown), cause: cause, remedy: remedy)
    }
    let lower = text.lowercased()
    let isTLS = lower.hasPrefix("https://")
    guard isTLS || lower.hasPrefix("http://") else {
      throw fault("it is not an http:// or https:// URL", "write for example http://127.0.0.1:9000")
    }
    var authority = text.dropFirst(isTLS ? 8 : 7)
    if authority.hasSuffix("/") { authority = authority.dropLast() }
    guard !authority.utf8.contains(where: { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 }) else {
      throw fault("it has a path, a query or a fragment", "give scheme, host and port only")
    }
    do throws(OriginFault) {
      return try WebOrigin(isTLS: isTLS, authority: authority)
    } catch .userInfo {
      throw fault(OriginFault.userInfo.cause, "credentials come from AWS_ACCESS_KEY_ID or a profile")
    } catch {
      throw fault(error.cause, error.remedy)
    }
  }

  /// Private servers seldom have names and certificates for buckets; those of AWS do.
  private static func isAWS(_ endpoint: WebOrigin) -> Bool {
    ["amazonaws.com", "amazonaws.com.cn"].contains { endpoint.host == $0 || endpoint.host.hasSuffix(".\($0)") }
      && endpoint.port == nil
  }

  /// Whether a bucket name can be one label before a host name, as its certificate requires.
  private static func isHostLabel(_ bucket: String) -> Bool {
    bucket.utf8.count <= 63 && bucket.utf8.first != 0x2D && bucket.utf8.last != 0x2D
      && bucket.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
  }

  static func isRegion(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
      }
  }
}
