import HTTPTypes

/// Maximum lengths of header fields that are kept: in the ledger, in memory for each part of a file, and in requests
/// that quote them. A longer field is never truncated and used: the answer is treated as invalid.
enum KeptField: String, CaseIterable {
  case etag
  case location
  case versionID = "x-amz-version-id"
  case date
  case modified = "last-modified"

  /// In bytes. ETags have up to 80 in practice, session URLs up to 2,000.
  var most: Int {
    switch self {
    case .etag: TransferReply.longestTag
    case .location: 8 << 10
    case .versionID: 1 << 10
    case .date, .modified: 128
    }
  }

  /// Computed once, because every answer is checked, some more than once.
  static let named = allCases.map { (name: HTTPField.Name($0.rawValue)!, most: $0.most) }
}

extension TransferReply {
  /// Maximum bytes of an ETag, also of one in a body.
  package static let longestTag = 1 << 10

  /// The error of a successful answer with a field that is too long; nil if there is none.
  var overlongField: String? {
    guard (200..<300).contains(status) else { return nil }
    for (name, most) in KeptField.named {
      let length = length(of: name)
      guard length > most else { continue }
      return "the header field \(name) of the answer has \(length) bytes; the limit is \(most)"
    }
    return nil
  }

  /// Length of a field's value in bytes; for a repeated field the length of `fields[name]`, which joins the values by
  /// ", ".
  private func length(of name: HTTPField.Name) -> Int {
    var length = 0
    for field in fields where field.name == name { length += field.value.utf8.count + (length > 0 ? 2 : 0) }
    return length
  }
}
