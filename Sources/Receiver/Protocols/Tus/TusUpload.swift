import TransferModel

/// The behaviour that the query of the creation URL sets, for the life of an upload.
struct TusOptions {
  /// Source: tus 1.0.0, section "Protocol Extensions".
  static let extensions = [
    "creation", "creation-with-upload", "creation-defer-length", "expiration", "checksum", "termination",
    "concatenation",
  ]

  /// `?ext=checksum,termination`: the extensions offered besides creation; all by default.
  let offered: [String]
  /// `?max-size=N`, bytes.
  let maxSize: Int64?
  /// `?max-age=SECONDS` until an unfinished upload expires.
  let maxAgeMs: Int64
  /// `?loc=relative`
  let hasRelativeLocation: Bool

  init(_ query: Query) throws(ExchangeEnd) {
    let asked = query["ext"].map { $0.split(separator: ",").map(String.init) } ?? Self.extensions
    offered = Self.extensions.filter { $0 == "creation" || asked.contains($0) }
    maxSize = try query.number("max-size")
    maxAgeMs = min(try query.number("max-age") ?? 86_400, 10_000_000_000) * 1000
    hasRelativeLocation = query["loc"] == "relative"
  }

  func offers(_ name: String) -> Bool { offered.contains(name) }
}

/// One upload URL of tus. Mutable state is used under the lock of `body`.
final class TusUpload: UploadSession, @unchecked Sendable {
  let protocolName = "tus"

  /// `Upload-Concat` of the creation; nil for an upload that is neither a part nor the final upload of a concatenation.
  enum Concatenation: Equatable {
    case partial
    case final(String)

    var field: String {
      switch self {
      case .partial: "partial"
      case .final(let urls): "final;\(urls)"
      }
    }
  }

  let id: String
  let options: TusOptions
  let body: AppendUpload
  let concatenation: Concatenation?
  /// As sent; nil when it was not sent.
  let metadata: String?
  /// The path of the object; nil for a partial upload.
  let path: ObjectPath?
  let expiresAtMs: Int64
  /// nil until the client has stated it.
  var length: Int64?
  var isPublished = false

  init(
    _ id: String, _ body: AppendUpload, _ options: TusOptions, _ concatenation: Concatenation?, metadata: String?,
    path: ObjectPath?, length: Int64?
  ) {
    (self.id, self.body, self.options, self.concatenation) = (id, body, options, concatenation)
    (self.metadata, self.path, self.length) = (metadata, path, length)
    expiresAtMs = wallMilliseconds() + options.maxAgeMs
  }

  var isComplete: Bool { body.shown == length }
  var isExpired: Bool { !isComplete && options.offers("expiration") && wallMilliseconds() >= expiresAtMs }
}

/// The parsed contents of tus fields. Source: tus 1.0.0, sections "Upload-Metadata" and "Checksum".
enum TusFields {
  static let checksums: [String: RunningHash.Kind] = ["sha1": .sha1, "sha256": .sha256, "md5": .md5, "crc32": .crc32]

  /// The decoded value of `filename`; nil when there is none. Refuses with 400 what is not valid metadata.
  private static func fileName(in metadata: String?) throws(ExchangeEnd) -> [UInt8]? {
    guard let metadata, !metadata.isEmpty else { return nil }
    var (names, found) = (Set<Substring>(), [UInt8]?.none)
    for pair in metadata.split(separator: ",", omittingEmptySubsequences: false) {
      let words = pair.split(separator: " ", omittingEmptySubsequences: true)
      guard let name = words.first, words.count <= 2, names.insert(name).inserted,
        let value = bytesFromBase64(words.count == 2 ? String(words[1]) : "")
      else { throw TusEndpoint.refusal(400, "ERR_INVALID_METADATA", "Upload-Metadata is malformed") }
      if name == "filename", !value.isEmpty { found = value }
    }
    return found
  }

  /// The name in the metadata, otherwise the ID.
  static func objectPath(_ metadata: String?, id: String) throws(ExchangeEnd) -> ObjectPath {
    try ObjectPath(name: try fileName(in: metadata) ?? Array(id.utf8))
  }

  /// The number in Upload-Length, checked against the limit.
  static func length(_ field: String?, _ options: TusOptions) throws(ExchangeEnd) -> Int64 {
    guard let length = wholeNumber(field ?? "") else {
      throw TusEndpoint.refusal(400, "ERR_INVALID_UPLOAD_LENGTH", "Upload-Length is missing or malformed")
    }
    if let maxSize = options.maxSize, length > maxSize {
      throw TusEndpoint.refusal(413, "ERR_MAX_SIZE_EXCEEDED", "the upload is longer than \(maxSize) bytes")
    }
    return length
  }

  /// The check that `Upload-Checksum` asks for.
  static func check(_ field: String?) throws(ExchangeEnd) -> BodyCheck? {
    guard let field else { return nil }
    let words = field.split(separator: " ")
    guard words.count == 2, let kind = checksums[String(words[0])], let digest = bytesFromBase64(String(words[1]))
    else {
      throw TusEndpoint.refusal(
        400, "ERR_INVALID_CHECKSUM", "the checksum is malformed or its algorithm is not offered")
    }
    let mismatch = TusEndpoint.refusal(460, "ERR_CHECKSUM_MISMATCH", "the body does not match the checksum")
    return BodyCheck((kind, digest), refusal: mismatch)
  }
}
