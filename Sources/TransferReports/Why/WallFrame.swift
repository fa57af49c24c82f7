public import TransferModel

/// The facts other than attempts by which wall time is divided. All times are milliseconds since 1970 UTC.
public struct WallFrame: Sendable {
  /// The wall time, half-open.
  public var window: TimeSpan
  /// Spans in which an engine ran, and in which the machine slept. They may overlap.
  public var running: [TimeSpan] = []
  public var asleep: [TimeSpan] = []
  /// Spans of waits requested by the host.
  public var hostWaits: [TimeSpan] = []
  /// In the order of their times.
  public var decisions: [FileDecision] = []
  /// For a single file, time without work before a `retried` decision counts as paused.
  public var isOneFile = false
  /// The last heartbeat of runs that crashed or are running; for others the end of the window applies.
  public var lastLifeMs: [RunID: Int64] = [:]

  public init(_ window: TimeSpan) { self.window = window }
}
