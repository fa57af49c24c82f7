import TransferModel

/// One version of the IETF's resumable uploads, by its interop version.
/// Source: draft-ietf-httpbis-resumable-upload, -01 (3), -02 (4), -03 (5), -05 (6), -11 (8), -12 (9).
struct ResumableDialect: Equatable {
  static let versions = [3, 4, 5, 6, 8, 9]
  static let versionField = "Upload-Draft-Interop-Version"

  /// nil for a client that sends none, as the final RFC will have it.
  let version: Int?

  /// nil when the client uses an unsupported version.
  init?(_ head: RequestHead) {
    guard let text = head["upload-draft-interop-version"] else {
      version = nil
      return
    }
    guard let number = Int(text), Self.versions.contains(number) else { return nil }
    version = number
  }

  private func isSince(_ first: Int) -> Bool { version ?? .max >= first }

  /// Appends have their own media type.
  var needsMediaType: Bool { isSince(6) }
  var tellsProgress: Bool { isSince(5) }
  var tellsLimits: Bool { isSince(6) }
  /// The status of an append that does not complete the upload; SwiftNIO answers 201 to the older versions.
  var appendedStatus: Int { isSince(8) ? 204 : 201 }

  var versionFields: [Answer.Field] { version.map { [Answer.Field(Self.versionField, String($0))] } ?? [] }

  /// Version 3 states the opposite: whether more bytes follow.
  func completeness(_ isComplete: Bool) -> Answer.Field {
    version == 3
      ? Answer.Field("Upload-Incomplete", isComplete ? "?0" : "?1")
      : Answer.Field("Upload-Complete", isComplete ? "?1" : "?0")
  }

  /// Whether the request ends the upload; nil when it does not state that, or not as a boolean.
  func isCompleting(_ head: RequestHead) -> Bool? {
    switch head[version == 3 ? "upload-incomplete" : "upload-complete"] {
    case "?1": version != 3
    case "?0": version == 3
    default: nil
    }
  }

  /// A field with a number; nil when it is absent or ill-typed, which is treated as absent. Source: RFC 9651 section
  /// 3.3.1.
  static func number(_ text: String?) -> Int64? {
    guard let text, text.utf8.count <= 15 else { return nil }
    return wholeNumber(text)
  }
}

/// The limits that the query of the target asks the server to impose.
struct ResumableLimits {
  let maxSize: Int64?
  let maxAppendSize: Int64?
  let minAppendSize: Int64?
  /// As requested; otherwise a day.
  let maxAge: Int64?
  /// `?no-104`
  let hidesInterim: Bool

  init(_ query: Query) throws(ExchangeEnd) {
    maxSize = try query.number("max-size")
    maxAppendSize = try query.number("max-append-size")
    minAppendSize = try query.number("min-append-size")
    maxAge = try query.number("max-age").map { min($0, 10_000_000_000) }
    hidesInterim = query.has("no-104")
  }

  var lifeMs: Int64 { (maxAge ?? 86_400) * 1000 }

  /// The Upload-Limit field; `age` is the number of seconds until the upload expires.
  func field(_ dialect: ResumableDialect, age: Int64?) -> Answer.Field {
    let ageKey = dialect.version == 6 ? "expires" : "max-age"
    let values = [
      ("max-size", maxSize), ("max-append-size", maxAppendSize), ("min-append-size", minAppendSize), (ageKey, age),
    ]
    let texts = values.compactMap { name, value in value.map { "\(name)=\($0)" } }
    return Answer.Field("Upload-Limit", texts.isEmpty ? "min-size=0" : texts.joined(separator: ", "))
  }
}

/// One upload resource. Mutable state is used under the lock of `body`.
final class ResumableUpload: UploadSession, @unchecked Sendable {
  let protocolName = "resumable"
  let id = randomID()
  let body: AppendUpload
  let path: ObjectPath
  let limits: ResumableLimits
  let condition: StagedObject.Condition
  /// The check of the whole representation, done at its end.
  let digests: [RunningHash.Kind: [UInt8]]
  let expiresAtMs: Int64
  /// nil until the client has stated it.
  var length: Int64?
  /// The answer that completed the upload; it is repeated to a client that lost it.
  var final: Answer?

  init(
    _ body: AppendUpload, _ path: ObjectPath, _ limits: ResumableLimits, _ condition: StagedObject.Condition,
    digests: [RunningHash.Kind: [UInt8]], length: Int64?
  ) {
    (self.body, self.path, self.limits, self.condition) = (body, path, limits, condition)
    (self.digests, self.length) = (digests, length)
    expiresAtMs = wallMilliseconds() + limits.lifeMs
  }

  var isExpired: Bool { final == nil && wallMilliseconds() >= expiresAtMs }

  func limitField(_ dialect: ResumableDialect) -> Answer.Field {
    limits.field(dialect, age: max(0, (expiresAtMs - wallMilliseconds()) / 1000))
  }
}
