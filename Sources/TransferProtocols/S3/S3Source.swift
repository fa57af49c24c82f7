import HTTPTypes
import TransferModel

/// Objects of a bucket, by GetObject.
///
/// Ranges are requested with `If-Match`: S3 documents no `If-Range`, and some servers ignore it (chimera issue 475). A
/// server that ignores both sends another ETag, which is compared.
struct S3Source: GetSource {
  let s3: S3Protocol
  /// Files get the permissions in the metadata of their objects.
  var keepsMode = false
  /// The same for owner and group.
  var keepsOwner = false

  let protocolName = "s3-get"
  /// The checksum that S3 computes for every object uploaded without one.
  let sentDigest = DigestAlgorithm.crc64nvme
  let sendsWhatIsStored = true
  /// S3 sends no checksum with a range.
  let tellsDigestsLate = true

  func refusal(ofKey key: NameBytes) -> Failure? { s3.refusal(ofKey: key) }

  func location(ofKey key: NameBytes) -> String { s3.location(ofKey: key) }

  func fileName(ofKey key: NameBytes) -> NameBytes { key.lastComponent }

  func request(
    _ part: GetPart, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    var draft = S3Draft(method: .get, key: facts.file.key)
    let checksum = ("x-amz-checksum-mode", "ENABLED")
    let isList = if case .partList = part { true } else { false }
    switch part {
    case .beginning(let range):
      draft.fields = [checksum] + (range.map { [("range", $0.field)] } ?? [])
    case .range(let range, let validator):
      draft.fields = (validator.map { [("if-match", $0)] } ?? []) + [("range", range.field)]
    case .whole: break
    case .description(let validator):
      draft.method = .head
      draft.fields = [checksum, ("if-match", validator)]
    // Without a condition, which some servers compare with the ETag of the part (moto 5.2).
    case .firstPart:
      draft.method = .head
      draft.query = [("partNumber", "1")]
    // The range limits what a server sends that takes this for a request of the object.
    case .partList(let number):
      draft.query = [("attributes", "")]
      if let version = RemoteVersion(facts.session)?.versionID { draft.query.append(("versionId", version)) }
      draft.fields = [
        ("range", "bytes=0-1048575"), ("x-amz-max-parts", "1000"), ("x-amz-object-attributes", "ETag,ObjectParts"),
      ]
      if number > 0 { draft.fields.append(("x-amz-part-number-marker", String(number))) }
    }
    // Google's gateway changes it in transit.
    draft.unsignedFields = [("accept-encoding", "identity")]
    var request = try draft.signed(s3.settings, context)
    if draft.method == .get, !isList { request.limits = .body }
    return request
  }

  func complete(_ version: inout RemoteVersion, _ fields: HTTPFields) {
    // ETags here depend on the content, or are new for each version.
    version.isFresh = false
    version.versionID = fields[.init(.versionID)]
    version.access = FileAccess(fields, mode: keepsMode, owner: keepsOwner)
    // ETags of directory buckets are random ("Directory buckets", Amazon S3 User Guide).
    if !s3.settings.bucket.hasSuffix("--x-s3"), let md5 = Self.md5(fields),
      !version.digests.contains(where: { $0.algorithm == .md5 })
    {
      version.digests.append(md5)
    }
  }

  func wanted(of access: FileAccess) -> FileAccess {
    FileAccess(
      mode: keepsMode ? access.mode : nil, owner: keepsOwner ? access.owner : nil,
      group: keepsOwner ? access.group : nil)
  }

  /// A server that ignores `If-Match` sends a range of its current version.
  func doubt(of version: RemoteVersion, in fields: HTTPFields) -> Failure? {
    guard let known = version.versionID, let now = fields[.init(.versionID)], known != now else { return nil }
    return Failure(.sourceChanged, "the object changed: its version was \(known) and is \(now)")
  }

  func isNamed(_ version: RemoteVersion, in fields: HTTPFields) -> Bool {
    (version.versionID != nil && fields[.init(.versionID)] != nil) || fields[.eTag] != nil
  }

  /// The ETag of an object that was stored by one request, unless it is encrypted with a customer or KMS key.
  /// Source: "Object", S3 API reference.
  private static func md5(_ fields: HTTPFields) -> Digest? {
    let encryption = fields[.init(.encryption)] ?? ""
    guard !encryption.hasPrefix("aws:kms"), fields[.init(.customerEncryption)] == nil,
      let etag = fields[.eTag], etag.hasPrefix("\""), etag.hasSuffix("\"")
    else { return nil }
    return Digest(text: "md5:" + etag.dropFirst().dropLast().lowercased())
  }

  func meaning(of reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation? {
    switch reply.status {
    case 200, 206, 304, 416: return nil
    case 412:
      let text = "the object changed: its ETag is no longer that of its first bytes"
      return .failed(Failure(.sourceChanged, text), .permanent)
    // Interpreted like a query, because the assumptions about uploads do not apply.
    default: return s3.answer(reply, facts, context).failed(S3Error(reply), .verify)
    }
  }

  /// AWS reports it only in the body.
  func size(behindTheEnd reply: TransferReply) -> Int64? {
    if let size = ContentRange(reply.fields[.contentRange])?.size { return size }
    return reply.completeDocument?.value("ActualObjectSize").flatMap { Int64($0) }
  }
}

extension HTTPField.Name {
  fileprivate enum Amazon: String {
    case versionID = "x-amz-version-id", encryption = "x-amz-server-side-encryption"
    case customerEncryption = "x-amz-server-side-encryption-customer-algorithm"
  }

  fileprivate init(_ name: Amazon) { self = Self(name.rawValue)! }
}
