import TransferModel

/// Where files are fetched from: a web server, or a bucket. All files of one are of one batch.
public enum DownloadOrigin: Sendable, Hashable {
  /// `prefix` stands before `http` in URLs that say how the server is to be spoken to; empty for none.
  case web(WebOrigin, prefix: String)
  case bucket(String, scheme: String)

  /// The server can be asked what lies in a folder.
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

/// As people write it, without a slash at the end.
extension DownloadOrigin: CustomStringConvertible {
  public var description: String {
    switch self {
    case .web(let origin, let prefix): prefix + origin.description
    case .bucket(let bucket, let scheme): "\(scheme)://\(bucket)"
    }
  }
}
