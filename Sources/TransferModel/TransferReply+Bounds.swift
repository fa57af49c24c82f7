import HTTPTypes

/// How long the fields of an answer may be that are kept: in the ledger, in memory for each part of a file, and in
/// requests that name them. A longer one is never cut and used as if it were whole: an answer with it is none.
enum KeptField: String, CaseIterable {
  case etag
  case location
  case versionID = "x-amz-version-id"
  case date

  /// In bytes. Real ETags have up to 80, URLs of sessions up to 2,000.
  var most: Int {
    switch self {
    case .etag: TransferReply.longestTag
    case .location: 8 << 10
    case .versionID: 1 << 10
    case .date: 128
    }
  }

  /// Made once: every answer is compared, more than once.
  static let named = allCases.map { (name: HTTPField.Name($0.rawValue)!, most: $0.most) }
}

extension TransferReply {
  /// Bytes of an ETag, also of one that stands in a body.
  public static let longestTag = 1 << 10

  /// What is wrong with a success whose fields cannot be kept; nil when all is well.
  var overlongField: String? {
    guard (200..<300).contains(status) else { return nil }
    for (name, most) in KeptField.named {
      let length = length(of: name)
      guard length > most else { continue }
      return "the field \(name) of the answer has \(length) bytes, and \(most) are kept at most"
    }
    return nil
  }

  /// Bytes of a field's value; of one that comes more than once those of `fields[name]`, with ", " between.
  private func length(of name: HTTPField.Name) -> Int {
    var length = 0
    for field in fields where field.name == name { length += field.value.utf8.count + (length > 0 ? 2 : 0) }
    return length
  }
}
