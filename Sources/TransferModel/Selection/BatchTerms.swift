/// Selection of batches by properties other than numbers and names. Different properties are combined with AND, values
/// of one with OR.
public struct BatchTerms: Sendable, Hashable {
  public var labels: [Label] = []
  /// Names of the configured jobs that made them.
  public var jobs: [String] = []
  /// Parts of destinations or, with `*`, `?` or `[`, GLOBs for all of it.
  public var destinations: [String] = []
  /// GLOBs for the host, with or without port; for S3 without an endpoint the bucket.
  public var hosts: [String] = []

  public struct Label: Sendable, Hashable, Codable {
    public var key, value: String
    public init(key: String, value: String) { (self.key, self.value) = (key, value) }
  }

  public init() {}
  public var isEmpty: Bool { labels.isEmpty && jobs.isEmpty && destinations.isEmpty && hosts.isEmpty }
}
