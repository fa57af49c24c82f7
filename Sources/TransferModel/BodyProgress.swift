/// What counts as progress when a server takes a body in part. One that takes next to nothing of what it is sent is at
/// fault like one that takes nothing: else a byte of each megabyte would keep an upload alive for ever.
public enum BodyProgress {
  /// So many bytes are progress, however many were sent.
  public static let enough: Int64 = 64 << 10
  /// Of what was sent, at least one part in so many.
  private static let leastShare: Int64 = 16
  private static let firstLimit: Int64 = 8 << 20

  /// `bytes` more of a file of `size` bytes forgive the failures before.
  public static func forgives(_ bytes: Int64, ofFile size: Int64) -> Bool {
    bytes > 0 && bytes >= min(enough, size / leastShare)
  }

  /// `bytes` of a body of `sent` bytes were taken, and that is a failure.
  public static func isTiny(_ bytes: Int64, of sent: Int64) -> Bool { bytes < enough && bytes < sent / leastShare }

  /// The longest body after so many failures in a row, where a protocol can send a chunk in pieces; nil for no limit.
  public static func longestBody(afterFailures count: Int) -> Int64? {
    count < 2 ? nil : max(enough, firstLimit >> Int64(min(20, 2 * (count - 2))))
  }
}
