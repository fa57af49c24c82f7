import TransferProtocols

/// The format of a list of files to fetch.
public enum ListFormat: String, Sendable, CaseIterable {
  /// Checksum files: `SHA256SUMS`, the output of `md5sum`.
  case sums
  /// Metalink 4 (RFC 5854).
  case metalink
  /// The lists of a bag (RFC 8493): its folder, or its `fetch.txt`.
  case bagit
  /// A table with a header: `url`, `path`, `size`, `digest`.
  case csv
  /// One JSON object per line, with the same names.
  case jsonl
  /// One URL or relative path per line, optionally followed by a tab and a target path.
  case list

  var manifest: ManifestFormat {
    switch self {
    case .sums: .sums
    case .metalink: .metalink
    case .bagit: .bagit
    case .csv: .csv
    case .jsonl: .jsonl
    case .list: .list
    }
  }
}
