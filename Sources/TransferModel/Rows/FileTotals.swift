/// Sums over files and their attempts; never stored, always computed.
public struct FileTotals: Sendable, Hashable {
  /// Files by state, without superseded generations.
  public var byState: [FileState: Int]
  /// Sum of sizes.
  public var bytes: Int64
  /// Sum of the acknowledged bytes of chunks.
  public var bytesAcked: Int64
  /// The part of it that existed locally, and was not fetched.
  public var bytesReused: Int64 = 0
  /// Body bytes passed to the network in all attempts, as far as known: for crashed attempts only the bytes found on
  /// the server.
  public var bytesTransferred: Int64
  /// Bytes that crashed and running attempts may have sent in addition.
  public var bytesUntold: Int64 = 0
  /// Attempts that ended with `retry`.
  public var retries: Int
  /// Failed files whose cause is `integrity.mismatch`.
  public var mismatched: Int
  /// Done files that the server confirmed with nothing but success.
  public var unverified: Int
  /// Files that are left and of which the size is not known yet: they are not in ``bytes``.
  package var unsized = 0

  package init(
    byState: [FileState: Int] = [:], bytes: Int64 = 0, bytesAcked: Int64 = 0, bytesTransferred: Int64 = 0,
    retries: Int = 0,
    mismatched: Int = 0, unverified: Int = 0
  ) {
    self.byState = byState
    self.bytes = bytes
    self.bytesAcked = bytesAcked
    self.bytesTransferred = bytesTransferred
    self.retries = retries
    self.mismatched = mismatched
    self.unverified = unverified
  }

  public func count(_ state: FileState) -> Int { byState[state] ?? 0 }

  public var files: Int { byState.values.reduce(0, +|) }
  /// Files that an engine still has to finish.
  public var left: Int { FileState.left.reduce(0) { $0 + count($1) } }
  /// Files that ended without success.
  public var bad: Int { count(.failed) + count(.unknown) }
  /// Body bytes that were transferred and not acknowledged, at least.
  public var bytesUnacked: Int64 { max(0, bytesTransferred -| bytesMoved) }
  /// Bytes acknowledged for requests.
  public var bytesMoved: Int64 { max(0, bytesAcked -| bytesReused) }
  /// The maximum of unacknowledged bytes.
  public var bytesUnackedAtMost: Int64 { max(0, bytesTransferred +| bytesUntold -| bytesMoved) }
}
