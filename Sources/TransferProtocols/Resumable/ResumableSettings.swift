import HTTPTypes
import TransferModel

/// The settings for resumable uploads of one batch.
struct ResumableSettings: Sendable, Hashable {
  /// Versions to try, in order.
  var interops: [Interop]
  var isPost: Bool
  /// Sends the SHA-256 of bodies and of the whole file.
  var sendsDigests: Bool
  var partSize: Int64
  var ifNoneMatch: Bool
  var mediaType: MediaTypeChoice
  /// For servers without resumable uploads.
  var answers: AcceptedAnswers

  /// - Throws: `.usage` for invalid settings.
  init(_ settings: BatchSettings) throws(TransferError) {
    interops = try Self.interops(settings.interop)
    isPost = try Self.isPost(settings.method)
    sendsDigests = try Self.sendsDigests(settings.digest)
    partSize = settings.partSize ?? TusSettings.defaultPart
    ifNoneMatch = settings.ifNoneMatch
    answers = AcceptedAnswers(settings)
    mediaType = try MediaTypeChoice(parsing: settings.contentType ?? MediaType.unknown)
    guard partSize >= TusSettings.smallestPart else {
      throw TransferError(
        .usage, "plan upload", cause: "a part must be 16 KiB or more, not \(partSize) bytes",
        remedy: "choose another --part-size or leave it out")
    }
  }

  private static func interops(_ text: String?) throws(TransferError) -> [Interop] {
    guard let text else { return [.v9, .v8] }
    guard let interop = Interop(rawValue: text) else {
      throw TransferError(
        .usage, "read --interop", NameBytes(text), cause: "unknown version",
        remedy: "use one of \(Interop.allCases.map(\.rawValue).joined(separator: ", ")), or leave it out")
    }
    return [interop]
  }

  private static func isPost(_ text: String?) throws(TransferError) -> Bool {
    switch text?.lowercased() {
    case nil, "put": return false
    case "post": return true
    default:
      throw TransferError(
        .usage, "read --method", NameBytes(text ?? ""), cause: "uploads are created by PUT or POST",
        remedy: "use put or post, or leave it out")
    }
  }

  private static func sendsDigests(_ text: String?) throws(TransferError) -> Bool {
    switch text {
    case nil, "none": return false
    case "sha-256": return true
    default:
      throw TransferError(
        .usage, "read --digest", NameBytes(text ?? ""), cause: "not supported for resumable uploads",
        remedy: "use sha-256 or none")
    }
  }
}
