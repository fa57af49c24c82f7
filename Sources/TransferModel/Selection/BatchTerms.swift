/// Selection of batches by properties other than numbers and names. Different properties are combined with AND, values
/// of one with OR.
package struct BatchTerms: Sendable, Hashable {
  package var labels: [Label] = []
  /// Names of the configured jobs that made them.
  package var jobs: [String] = []
  /// Parts of destinations or, with `*`, `?` or `[`, GLOBs for all of it.
  package var destinations: [String] = []
  /// GLOBs for the host, with or without port; for S3 without an endpoint the bucket.
  package var hosts: [String] = []

  package struct Label: Sendable, Hashable, Codable {
    package var key, value: String
    package init(key: String, value: String) { (self.key, self.value) = (key, value) }
  }

  package init() {}
  package var isEmpty: Bool { labels.isEmpty && jobs.isEmpty && destinations.isEmpty && hosts.isEmpty }
}
