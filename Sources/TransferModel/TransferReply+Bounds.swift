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

  var name: HTTPField.Name { HTTPField.Name(rawValue)! }
}

extension TransferReply {
  /// Bytes of an ETag, also of one that stands in a body.
  public static let longestTag = 1 << 10

  /// What is wrong with a success whose fields cannot be kept; nil when all is well.
  var overlongField: String? {
    guard (200..<300).contains(status) else { return nil }
    for kept in KeptField.allCases {
      guard let value = fields[kept.name], value.utf8.count > kept.most else { continue }
      return "the field \(kept.name) of the answer has \(value.utf8.count) bytes, and \(kept.most) are kept at most"
    }
    return nil
  }
}
