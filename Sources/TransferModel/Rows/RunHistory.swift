/// One run of the engine, with what it did.
public struct RunHistory: Sendable, Hashable {
  public var run: RunRow
  /// For how long it was there: of one that crashed until its last sign of life.
  public var upMs: Int64
  /// Attempts of the selection that it began, and those of them that it left open when it died.
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
  /// When each of the rows was there.
  public var lives: [TimeSpan]

  package init(_ rows: [RunHistory], lives: [TimeSpan]) { (self.rows, self.lives) = (rows, lives) }
}
