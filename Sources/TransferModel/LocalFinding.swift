/// The finding about the local file of a download.
public struct LocalFinding: Sendable, Hashable {
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// Its size equals that of the download, and so do its digests, if there are any.
    case intact
    case changed
    /// Its name does not exist, or is not a regular file.
    case missing
  }

  public var outcome: Outcome
  /// Bytes; nil for a missing file.
  public var size: Int64?
  /// Digest of the file as read, with the algorithm of the receipt; nil if only the size was compared or no digest was
  /// recorded.
  public var digest: Digest?

  package init(_ outcome: Outcome, size: Int64? = nil, digest: Digest? = nil) {
    (self.outcome, self.size, self.digest) = (outcome, size, digest)
  }
}

/// A done download that is the current one for its path.
public struct KeptDownload: Sendable, Hashable {
  public var id: FileID
  public var batch: BatchID
  /// Absolute.
  public var path: NameBytes
  public var key: NameBytes
  /// Bytes.
  public var size: Int64
  /// Digests of the whole file, each with a different algorithm: that of its receipt, and the expected ones.
  public var digests: [Digest]
  public var expected: ExpectedContent

  package init(
    id: FileID, batch: BatchID, path: NameBytes, key: NameBytes, size: Int64, digests: [Digest],
    expected: ExpectedContent
  ) {
    (self.id, self.batch, self.path, self.key) = (id, batch, path, key)
    (self.size, self.digests, self.expected) = (size, digests, expected)
  }
}

/// One of several equal shares of all files, by their numbers: with one share each night all files are checked within a
/// month.
public struct FileShare: Sendable, Hashable {
  /// From 1 to ``count``.
  public let number: Int
  public let count: Int

  public static let all = FileShare(validNumber: 1, of: 1)

  private init(validNumber number: Int, of count: Int) { (self.number, self.count) = (number, count) }

  /// nil unless 1 <= number <= count <= 100,000.
  public init?(_ number: Int, of count: Int) {
    guard (1...100_000).contains(count), (1...count).contains(number) else { return nil }
    self.init(validNumber: number, of: count)
  }
}
