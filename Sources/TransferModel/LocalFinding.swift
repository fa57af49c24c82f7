/// What was found in the place of a file that was downloaded.
public struct LocalFinding: Sendable, Hashable {
  public enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// Its size is that of the download, and so are its digests as far as there are any.
    case intact
    case changed
    /// Nothing stands under its name, or no regular file.
    case missing
  }

  public var verdict: Verdict
  /// Bytes; nil for what is missing.
  public var size: Int64?
  /// Of the file as read, in the algorithm of the receipt; nil when the size alone decided or no digest was recorded.
  public var digest: Digest?

  public init(_ verdict: Verdict, size: Int64? = nil, digest: Digest? = nil) {
    (self.verdict, self.size, self.digest) = (verdict, size, digest)
  }
}

/// A download that is done and stands for its path.
public struct KeptDownload: Sendable, Hashable {
  public var id: FileID
  public var batch: BatchID
  /// Absolute.
  public var path: NameBytes
  public var key: NameBytes
  /// Bytes.
  public var size: Int64
  /// Of the whole file, each of another algorithm: that of its receipt, and those that were expected of it.
  public var digests: [Digest]
  public var expected: ExpectedContent

  public init(
    id: FileID, batch: BatchID, path: NameBytes, key: NameBytes, size: Int64, digests: [Digest],
    expected: ExpectedContent
  ) {
    (self.id, self.batch, self.path, self.key) = (id, batch, path, key)
    (self.size, self.digests, self.expected) = (size, digests, expected)
  }
}

/// One of several equal shares of all files, by their numbers: one share each night proves all of them in a month.
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
