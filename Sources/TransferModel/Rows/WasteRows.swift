/// What was transferred for nothing, or is not known to count.
public struct WasteFigures: Sendable, Hashable {
  /// Body bytes of all attempts; and of those for files that were not replaced, what servers acknowledged.
  public var bytesTransferred: Int64 = 0
  public var bytesAcked: Int64 = 0
  /// What attempts may have transferred besides, whose engine was killed before it could count them.
  public var bytesUncountedAtMost: Int64 = 0
  /// The most bytes first.
  public var causes: [WasteRow] = []

  package init() {}

  public var bytesWasted: Int64 { bytesTransferred -| bytesAcked }
}

/// Why bytes do not count: one cause, and the error where it is a failure.
public struct WasteRow: Sendable, Hashable {
  public var cause: WasteCause
  public var errorCode: String?
  public var attempts: Int64 = 0
  public var bytes: Int64 = 0

  package init(_ cause: WasteCause, _ errorCode: String?) { (self.cause, self.errorCode) = (cause, errorCode) }
}

/// What an attempt and its file prove of bytes that do not count. The statement that reads them has the same numbers.
public enum WasteCause: Int64, Sendable, CaseIterable {
  /// The attempt failed: what it had transferred and the server does not hold.
  case failed = 1
  /// Its engine was killed.
  case crashed
  /// Somebody stopped it.
  case interrupted
  /// It succeeded, and the server took less than was sent.
  case unacknowledged
  /// The file was replaced by a newer generation before it was done: nothing that was sent of it counts.
  case replaced
  /// It runs: nobody knows yet.
  case inFlight

  public var name: String { self == .inFlight ? "in_flight" : "\(self)" }
}
