import TransferModel

/// The value of `Upload-Draft-Interop-Version`, and what differs between versions on the wire.
/// Source: draft-ietf-httpbis-resumable-upload-01 (3), -02 (4), -03 (5), -05 (6), -11 (8), -12 (9).
enum Interop: String, Sendable, Hashable, CaseIterable {
  case v9 = "9"
  case v8 = "8"
  case v6 = "6"
  case v5 = "5"
  case v4 = "4"
  case v3 = "3"
  /// The future RFC: no version is sent.
  case final

  /// nil if no field is sent.
  var field: String? { self == .final ? nil : rawValue }

  /// Limits are announced in the answer to OPTIONS, which shows that a server supports the version.
  var isDiscovered: Bool { self != .v3 && self != .v4 && self != .v5 }
  /// Appended bodies have a media type of their own.
  var hasPartialType: Bool { isDiscovered }
  /// Proxies are asked to forward bytes as they arrive.
  var isIncremental: Bool { self == .v9 || self == .v8 || self == .final }

  /// The field that states whether the body completes the upload.
  func completeness(_ isComplete: Bool) -> (name: String, value: String) {
    self == .v3
      ? (name: "upload-incomplete", value: isComplete ? "?0" : "?1")
      : (name: "upload-complete", value: isComplete ? "?1" : "?0")
  }

  /// The same field in an answer; nil if it is missing.
  func isComplete(_ reply: TransferReply) -> Bool? {
    self == .v3
      ? StructuredField.boolean(reply.field("upload-incomplete")).map { !$0 }
      : StructuredField.boolean(reply.field("upload-complete"))
  }
}
