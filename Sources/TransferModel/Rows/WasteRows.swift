/// Bytes transferred for nothing, or whose effect is unknown.
package struct WasteFigures: Sendable, Hashable {
  /// Body bytes of all attempts; and the acknowledged bytes of files that were not superseded, unless they were lost
  /// later.
  package var bytesTransferred: Int64 = 0
  package var bytesAcked: Int64 = 0
  /// Maximum of further bytes of attempts whose engine was killed before it could count them.
  package var bytesUncountedAtMost: Int64 = 0
  /// The most bytes first.
  package var causes: [WasteRow] = []

  package init() {}

  package var bytesWasted: Int64 { bytesTransferred -| bytesAcked }
}

/// One cause of wasted bytes, with the error if it is a failure.
package struct WasteRow: Sendable, Hashable {
  package var cause: WasteCause
  package var errorCode: String?
  package var attempts: Int64 = 0
  package var bytes: Int64 = 0

  package init(_ cause: WasteCause, _ errorCode: String?) { (self.cause, self.errorCode) = (cause, errorCode) }
}

/// The causes of wasted bytes. The SQL statement uses the same numbers.
package enum WasteCause: Int64, Sendable, CaseIterable {
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
  /// What it stored was lost with the upload on the server, or with the partial file, and was transferred again.
  case lost

  package var name: String { self == .inFlight ? "in_flight" : "\(self)" }
}
