import TransferModel

/// The limits that a server announces in `Upload-Limit`; nil for those that it does not name.
/// Source: draft-ietf-httpbis-resumable-upload-12 section 4.1.4.
struct UploadLimit: Sendable, Hashable {
  var maxSize: Int64?
  var minSize: Int64?
  var maxAppend: Int64?
  var minAppend: Int64?
  /// Number of seconds for which an upload is kept from now on.
  var maxAge: Int64?

  static let names = ["max-size", "min-size", "max-append-size", "min-append-size", "max-age"]
  private static var parts: [WritableKeyPath<UploadLimit, Int64?>] {
    [\.maxSize, \.minSize, \.maxAppend, \.minAppend, \.maxAge]
  }

  init() {}

  /// nil without a field, or if a known limit in it is not a number: the whole field is then ignored.
  init?(_ field: String?) {
    guard let members = StructuredField.dictionary(field) else { return nil }
    for (name, part) in zip(Self.names, Self.parts) {
      guard let value = members[name] else { continue }
      guard let value else { return nil }
      self[keyPath: part] = value
    }
  }

  init(_ values: [String: String]) {
    for (name, part) in zip(Self.names, Self.parts) { self[keyPath: part] = values[name].flatMap { Int64($0) } }
  }

  var values: [String: String] {
    var values: [String: String] = [:]
    for (name, part) in zip(Self.names, Self.parts) { values[name] = self[keyPath: part].map(String.init) }
    return values
  }

  /// Why a file of this size cannot be uploaded; nil if it can.
  func refusal(size: Int64) -> Failure? {
    if let maxSize, size > maxSize {
      return Failure(.policyLimit, "\(size) bytes are more than the server accepts: \(maxSize)")
    }
    return maxAppend.flatMap { Self.refusal(size: size, bodies: $0) }
  }

  /// Bodies shorter than ``TusSettings/smallestPart`` are sent only for a file that needs no more of them than this.
  private static let mostShortBodies: Int64 = 64

  /// Why a file of this size cannot be sent in bodies of at most `most` bytes: it would take a request for almost every
  /// byte.
  static func refusal(size: Int64, bodies most: Int64) -> Failure? {
    guard most < TusSettings.smallestPart, size.dividedUp(by: max(1, most)) > mostShortBodies else { return nil }
    return Failure(.policyLimit, "the server takes only \(most) bytes at once of a file of \(size) bytes")
  }
}
