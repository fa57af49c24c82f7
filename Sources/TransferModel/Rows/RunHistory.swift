/// One run of the engine, with its totals.
package struct RunHistory: Sendable, Hashable {
  package var run: RunRow
  /// How long it ran; for a crashed run until its last heartbeat.
  package var upMs: Int64
  /// Selected attempts that it began, and those that it left open when it crashed.
  package var attempts: Int64
  package var recovered: Int64
  /// Body bytes of these attempts.
  package var bytesTransferred: Int64

  package init(_ run: RunRow, upMs: Int64, attempts: Int64, recovered: Int64, bytesTransferred: Int64) {
    (self.run, self.upMs, self.attempts) = (run, upMs, attempts)
    (self.recovered, self.bytesTransferred) = (recovered, bytesTransferred)
  }
}

/// Runs by number, and the time that they cover.
package struct RunFigures: Sendable, Hashable {
  package var rows: [RunHistory]
  /// The time span of each run.
  package var lives: [TimeSpan]

  package init(_ rows: [RunHistory], lives: [TimeSpan]) { (self.rows, self.lives) = (rows, lives) }
}
