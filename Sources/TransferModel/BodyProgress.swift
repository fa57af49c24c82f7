/// Defines what counts as progress if a server stores a part of a body. A server that stores almost nothing of what it
/// receives is as faulty as one that stores nothing: otherwise one byte of each megabyte would keep an upload alive
/// forever.
package enum BodyProgress {
  /// This many bytes always count as progress.
  package static let enough: Int64 = 64 << 10
  /// The minimum share of the sent bytes, as a divisor.
  private static let leastShare: Int64 = 16
  private static let firstLimit: Int64 = 8 << 20

  /// Whether `bytes` more of a file of `size` bytes reset its failure count.
  package static func forgives(_ bytes: Int64, ofFile size: Int64) -> Bool {
    bytes > 0 && bytes >= min(enough, size / leastShare)
  }

  /// Whether storing only `bytes` of `sent` body bytes is a failure.
  package static func isTiny(_ bytes: Int64, of sent: Int64) -> Bool { bytes < enough && bytes < sent / leastShare }

  /// The longest body after `count` consecutive failures, if a protocol can send a chunk in pieces; nil for no limit.
  package static func longestBody(afterFailures count: Int) -> Int64? {
    count < 2 ? nil : max(enough, firstLimit >> Int64(min(20, 2 * (count - 2))))
  }
}
