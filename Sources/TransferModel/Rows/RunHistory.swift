/// One run of the engine, with its totals.
public struct RunHistory: Sendable, Hashable {
  public var run: RunRow
  /// How long it ran; for a crashed run until its last heartbeat.
  public var upMs: Int64
  /// Selected attempts that it began, and those that it left open when it crashed.
  public var attempts: Int64
  public var recovered: Int64
  /// Body bytes of these attempts.
  public var bytesTransferred: Int64

  package init(_ run: RunRow, upMs: Int64, attempts: Int64, recovered: Int64, bytesTransferred: Int64) {
    (self.run, self.upMs, self.attempts) = (run, upMs, attempts)
    (self.recovered, self.bytesTransferred) = (recovered, bytesTransferred)
  }
}

/// Runs by number, and the time that they cover.
public struct RunFigures: Sendable, Hashable {
  public var rows: [RunHistory]
  /// The time span of each run.
  public var lives: [TimeSpan]

  package init(_ rows: [RunHistory], lives: [TimeSpan]) { (self.rows, self.lives) = (rows, lives) }
}
