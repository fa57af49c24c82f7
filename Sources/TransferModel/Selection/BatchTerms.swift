/// What people say of batches, apart from their numbers and names. Kinds narrow each other, values of one kind add up.
public struct BatchTerms: Sendable, Hashable {
  public var labels: [Label] = []
  /// Names of the configured jobs that made them.
  public var jobs: [String] = []
  /// Parts of destinations or, with `*`, `?` or `[`, GLOBs for all of it.
  public var destinations: [String] = []
  /// GLOBs for the host that is talked to, with its port or without; for S3 without an endpoint the bucket.
  public var hosts: [String] = []

  public struct Label: Sendable, Hashable, Codable {
    public var key, value: String
    public init(key: String, value: String) { (self.key, self.value) = (key, value) }
  }

  public init() {}
  public var isEmpty: Bool { labels.isEmpty && jobs.isEmpty && destinations.isEmpty && hosts.isEmpty }
}
