/// A destination for which a job has files left that the program may still send.
package struct RemainingDestination: Sendable, Hashable {
  /// As its batches name it.
  package var url: String
  /// Whether one of the attempts in question succeeded, or stored a part; nil if there was none.
  package var hadSuccess: Bool?

  package init(url: String, hadSuccess: Bool?) { (self.url, self.hadSuccess) = (url, hadSuccess) }
}

/// How the last run of a configured job ended.
package struct JobRow: Sendable, Hashable {
  package var job: String
  /// Milliseconds since 1970 UTC, as all times here.
  package var startedMs: Int64
  package var endedMs: Int64
  /// The name of its exit code: `ok`, `partial`, …
  package var result: String
  /// Its message; nil if it is `ok`.
  package var message: String?
  /// The end of the last run that was `ok`; nil when none was.
  package var succeededMs: Int64?

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
package struct UnfinishedFiles: Sendable, Hashable {
  package var files = SelectedFiles()
  package var count = 0
  /// When the oldest of them was recorded, in milliseconds since 1970 UTC; nil when there is none.
  package var oldestMs: Int64?

  package init() {}
}
