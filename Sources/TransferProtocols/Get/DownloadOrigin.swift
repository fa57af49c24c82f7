import TransferModel

/// Where files are fetched from: a web server, or a bucket. All files of a batch have the same origin.
public enum DownloadOrigin: Sendable, Hashable {
  /// `prefix` precedes `http` in URLs and selects the protocol of the server; empty for plain HTTP.
  case web(WebOrigin, prefix: String)
  case bucket(String, scheme: String)

  /// Whether the server can list the contents of a folder.
  var listsCollections: Bool {
    switch self {
    case .web(_, let prefix): prefix == GetProtocol.davPrefix
    case .bucket: true
    }
  }

  /// Host and port, or the bucket.
  public var authority: String {
    switch self {
    case .web(let origin, _): origin.authority
    case .bucket(let bucket, _): bucket
    }
  }
}

/// The text form, without a trailing slash.
extension DownloadOrigin: CustomStringConvertible {
  public var description: String {
    switch self {
    case .web(let origin, let prefix): prefix + origin.description
    case .bucket(let bucket, let scheme): "\(scheme)://\(bucket)"
    }
  }
}
