/// Bytes transferred for nothing, or whose effect is unknown.
public struct WasteFigures: Sendable, Hashable {
  /// Body bytes of all attempts; and the acknowledged bytes of files that were not superseded.
  public var bytesTransferred: Int64 = 0
  public var bytesAcked: Int64 = 0
  /// Maximum of further bytes of attempts whose engine was killed before it could count them.
  public var bytesUncountedAtMost: Int64 = 0
  /// The most bytes first.
  public var causes: [WasteRow] = []

  package init() {}

  public var bytesWasted: Int64 { bytesTransferred -| bytesAcked }
}

/// One cause of wasted bytes, with the error if it is a failure.
public struct WasteRow: Sendable, Hashable {
  public var cause: WasteCause
  public var errorCode: String?
  public var attempts: Int64 = 0
  public var bytes: Int64 = 0

  package init(_ cause: WasteCause, _ errorCode: String?) { (self.cause, self.errorCode) = (cause, errorCode) }
}

/// The causes of wasted bytes. The SQL statement uses the same numbers.
public enum WasteCause: Int64, Sendable, CaseIterable {
  /// The attempt failed: transferred bytes that the server does not have.
  case failed = 1
  /// Its engine was killed.
  case crashed
  /// Somebody stopped it.
  case interrupted
  /// It succeeded, but the server stored less than was sent.
  case unacknowledged
  /// The file was superseded before it was done: none of its bytes count.
  case replaced
  /// It is running: undecided.
  case inFlight

  public var name: String { self == .inFlight ? "in_flight" : "\(self)" }
}
