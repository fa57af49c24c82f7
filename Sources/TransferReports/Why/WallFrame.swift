import TransferModel

/// The facts other than attempts by which wall time is divided. All times are milliseconds since 1970 UTC.
package struct WallFrame: Sendable {
  /// The wall time, half-open.
  package var window: TimeSpan
  /// Spans in which an engine ran, and in which the machine slept. They may overlap.
  package var running: [TimeSpan] = []
  package var asleep: [TimeSpan] = []
  /// Spans of waits requested by the host.
  package var hostWaits: [TimeSpan] = []
  /// In the order of their times.
  package var decisions: [FileDecision] = []
  /// For a single file, time without work before a `retried` decision counts as paused.
  package var isOneFile = false
  /// The last heartbeat of runs that crashed or are running; for others the end of the window applies.
  package var lastLifeMs: [RunID: Int64] = [:]

  package init(_ window: TimeSpan) { self.window = window }
}
