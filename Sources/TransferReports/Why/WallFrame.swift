public import TransferModel

/// What wall time is laid over besides attempts. All times are milliseconds since 1970 UTC.
public struct WallFrame: Sendable {
  /// The wall time, half-open.
  public var window: TimeSpan
  /// Stretches in which an engine ran, and those of them in which the machine was asleep. They may overlap.
  public var running: [TimeSpan] = []
  public var asleep: [TimeSpan] = []
  /// The host had asked us to wait.
  public var hostWaits: [TimeSpan] = []
  /// In the order of their times.
  public var decisions: [FileDecision] = []
  /// It is about one file: time without any work before a `retried` is time at rest.
  public var isOneFile = false
  /// When runs gave their last sign of life that did not end well; of others it is the end of the window.
  public var lastLifeMs: [RunID: Int64] = [:]

  public init(_ window: TimeSpan) { self.window = window }
}
