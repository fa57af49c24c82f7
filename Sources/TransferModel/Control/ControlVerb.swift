/// The control verbs for files, used both for the change itself and for a dry run.
public enum ControlVerb: Sendable, Hashable {
  /// No request of the file begins any more; with `now` its running requests are interrupted too.
  case pause(now: Bool)
  case resume
  /// Cancels the file, and aborts its session on the server.
  case cancel
  /// Queues failed, cancelled and unknown files again. With `startsOver` data on the server is not used.
  case retry(startsOver: Bool)
  /// Decides about unknown files, and cancelled ones that may have arrived, with a reason.
  case resolve(Resolution, reason: String)
  /// Cancels unfinished files, then hides all.
  case remove
  /// Hides finished files; failed ones only with `failed`.
  case clean(failed: Bool)
}

/// A person's decision about an unknown file.
public enum Resolution: String, Sendable, CaseIterable {
  /// It arrived.
  case done
  /// It is to be sent again.
  case retry
  /// It is no longer needed, whether or not it arrived.
  case cancel
}

/// The action requested from the engine that owns a file. Stored until the engine releases the file.
package enum RequestedAction: String, Sendable, CaseIterable, Codable {
  case pause
  case pauseNow = "pause-now"
  case cancel
  case remove
}

/// The result of a control verb, or of a dry run.
public struct ControlOutcome: Sendable, Hashable {
  /// Files changed at once.
  public var changed: [FileID] = []
  /// Files owned by an engine, which applies the request within a second; if it has crashed, the next one does.
  public var asked: [FileID] = []
  /// Unchanged files, by state: the verb does not apply to them, or has no effect.
  public var unaffected: [FileState: Int] = [:]
  /// Unaffected files of a retry that were never read, or are superseded by newer content; they have to be pushed
  /// again.
  public var unrepeatable = 0
  /// Unaffected files of a retry that were cancelled when they may have arrived (``RowFilter/sparesUncertain``).
  package var uncertain: [FileID] = []
  /// Changed files whose sources would have been deleted or moved, and are kept.
  public var keptSources = 0
  /// Changed files whose removal was revoked after a run had begun it: their sources may be gone.
  package var going: [FileID] = []

  package init() {}

  /// Files that the filter selected.
  public var selected: Int { changed.count + asked.count + unaffected.values.reduce(0, +) }
}
