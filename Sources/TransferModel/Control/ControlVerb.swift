/// What a person can ask of files. One list for the change itself and for telling beforehand what it would change.
public enum ControlVerb: Sendable, Hashable {
  /// Nothing of the file is begun any more; with `now` its running requests are interrupted too.
  case pause(now: Bool)
  case resume
  /// Ends the file for good, and its session at the server.
  case cancel
  /// Lets failed, cancelled and unknown files be tried again. With `startsOver` what the server has is not used.
  case retry(startsOver: Bool)
  /// Says what became of unknown files, and why one says so.
  case resolve(Resolution, reason: String)
  /// Cancels what is not at rest, then hides.
  case remove
  /// Hides what is finished; failed files only with `failed`.
  case clean(failed: Bool)
}

/// What became of a file whose outcome is unknown, in the words of a person.
public enum Resolution: String, Sendable, CaseIterable {
  /// It arrived.
  case done
  /// It is to be sent again.
  case retry
  case cancel
}

/// What the engine that has a file is asked to do with it. Stored until the file leaves the engine's hands.
public enum Wish: String, Sendable, CaseIterable, Codable {
  case pause
  case pauseNow = "pause-now"
  case cancel
  case remove
}

/// What a control verb did, or would do.
public struct ControlOutcome: Sendable, Hashable {
  /// At once.
  public var changed: [FileID] = []
  /// An engine has them: it does so within a second; if it is dead, the next one does.
  public var asked: [FileID] = []
  /// Left alone, by state: the verb means nothing there, or nothing that is not so already.
  public var unaffected: [FileState: Int] = [:]
  /// Of the unaffected of a retry: never read, or replaced by newer content; they have to be pushed again.
  public var unrepeatable = 0
  /// Of the changed: their sources were to be deleted or moved, and stay.
  public var keptSources = 0

  public init() {}

  /// Files that the filter selected.
  public var selected: Int { changed.count + asked.count + unaffected.values.reduce(0, +) }
}
