public import TransferModel

/// One file of a manifest: where it comes from, where it goes, and what is known of its content beforehand.
public struct ManifestEntry: Sendable, Hashable {
  public enum Location: Sendable, Hashable {
    /// Absolute URLs of the same file, the preferred one first; never empty. None holds user information, or a query
    /// that is known to carry a credential.
    case urls([ManifestURL])
    /// A path below a base URL that somebody else knows. Bytes, not percent-encoded; checked as
    /// ``ManifestEntry/path`` is.
    case relative(NameBytes)
  }

  public var location: Location
  /// Where the file goes: relative, its components separated by one slash each, none of them empty, `.` or `..`.
  public var path: NameBytes
  /// Bytes; nil when the manifest does not say it.
  public var size: Int64?
  /// Of the whole file, the strongest first; one of each algorithm.
  public var digests: [Digest]
  public var pieces: PieceDigests?
  /// Nanoseconds since 1970 UTC; nil when the manifest does not say it.
  public var mtimeNs: Int64?
  /// Where it stands in the manifest, from 1.
  public var line: Int

  public init(
    location: Location, path: NameBytes, size: Int64? = nil, digests: [Digest] = [], pieces: PieceDigests? = nil,
    mtimeNs: Int64? = nil, line: Int
  ) {
    (self.location, self.path, self.size) = (location, path, size)
    (self.digests, self.pieces, self.mtimeNs, self.line) = (digests, pieces, mtimeNs, line)
  }
}

/// One of the URLs of a file.
public struct ManifestURL: Sendable, Hashable {
  /// As written: visible ASCII.
  public var text: String
  /// 1 is preferred (RFC 5854 section 4.2.16.1.2); ``lowestPriority`` when the manifest does not say it.
  public var priority: Int
  /// Where the server is: two lower-case letters of ISO 3166-1.
  public var country: String?

  public static let lowestPriority = 999_999

  public init(_ text: String, priority: Int = lowestPriority, country: String? = nil) {
    (self.text, self.priority, self.country) = (text, priority, country)
  }
}
