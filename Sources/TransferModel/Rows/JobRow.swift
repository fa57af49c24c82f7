/// How the last run of a configured job ended.
public struct JobRow: Sendable, Hashable {
  public var job: String
  /// Milliseconds since 1970 UTC, as all times here.
  public var startedMs: Int64
  public var endedMs: Int64
  /// The name of its exit code: `ok`, `partial`, …
  public var result: String
  /// Its message; nil if it is `ok`.
  public var message: String?
  /// The end of the last run that was `ok`; nil when none was.
  public var succeededMs: Int64?

  package init(
    job: String, startedMs: Int64, endedMs: Int64, result: String, message: String?, succeededMs: Int64? = nil
  ) {
    self.job = job
    self.startedMs = startedMs
    self.endedMs = endedMs
    self.result = result
    self.message = message
    self.succeededMs = succeededMs
  }
}

/// Unfinished files.
public struct UnfinishedFiles: Sendable, Hashable {
  public var files = SelectedFiles()
  public var count = 0
  /// When the oldest of them was recorded, in milliseconds since 1970 UTC; nil when there is none.
  public var oldestMs: Int64?

  package init() {}
}
