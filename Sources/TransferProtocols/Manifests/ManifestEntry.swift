public import TransferModel

/// One file of a manifest: its source, its target, and what is known about its content.
public struct ManifestEntry: Sendable, Hashable {
  public enum Location: Sendable, Hashable {
    /// Absolute URLs of the same file, the preferred one first; never empty. None contains user information, or a query
    /// with a known credential parameter.
    case urls([ManifestURL])
    /// A path below a base URL that the caller knows. Bytes, not percent-encoded; checked like ``ManifestEntry/path``.
    case relative(NameBytes)
  }

  public var location: Location
  /// The target of the file: relative, its components separated by one slash each, none of them empty, `.` or `..`.
  public var path: NameBytes
  /// Bytes; nil if the manifest does not say.
  public var size: Int64?
  /// Digests of the whole file, the strongest first; one of each algorithm.
  public var digests: [Digest]
  public var pieces: PieceDigests?
  /// Nanoseconds since 1970 UTC; nil if the manifest does not say.
  public var mtimeNs: Int64?
  /// Of an upload: the path below the destination, if it is not ``path``.
  public var key: NameBytes?
  /// Of an upload: the properties of its object, by ``ObjectSetting/name``.
  public var settings: [String: String] = [:]
  /// Its line in the manifest, from 1.
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
  /// 1 is preferred (RFC 5854 section 4.2.16.1.2); ``lowestPriority`` if the manifest does not say.
  public var priority: Int
  /// Country of the server: two lower-case letters of ISO 3166-1.
  public var country: String?

  public static let lowestPriority = 999_999

  public init(_ text: String, priority: Int = lowestPriority, country: String? = nil) {
    (self.text, self.priority, self.country) = (text, priority, country)
  }
}
