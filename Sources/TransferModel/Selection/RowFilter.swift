/// Which rows are meant: the selection that a person typed, with names resolved. Kinds narrow each other; within a kind
/// the values add up, and ids of files and batches are one kind. Empty means everything that is not hidden.
///
/// In SQL it is one constant condition, put in where a statement says `{files}`, `{attempts}` …: see
/// ``RowFilter/parts``.
public struct RowFilter: Sendable, Hashable {
  /// Numbers of files, both ends included.
  public var files: [ClosedRange<Int64>] = []
  /// Numbers of batches, both ends included.
  public var batches: [ClosedRange<Int64>] = []
  /// Numbers of chunks and attempts. Only lists of chunks and attempts know what to do with them.
  public var chunks: [ClosedRange<Int64>] = []
  public var attempts: [ClosedRange<Int64>] = []
  /// Numbers of upload sessions. Only the list of those that were left at servers knows what to do with them.
  public var sessions: [ClosedRange<Int64>] = []
  /// Nothing outside of these batches, whatever else is said; nil for all batches. From names, labels and destinations.
  public var withinBatches: [Int64]?
  public var states: [FileState] = []
  /// Adds pending files that back off until a time to ``states``.
  public var isBackingOff = false
  /// GLOBs over error codes: `net.*`. For files it is their cause, for attempts their own error.
  public var errors: [String] = []
  /// GLOBs over the paths of sources, as bytes. `*` also matches slashes.
  public var paths: [NameBytes] = []
  /// The half-open window [since, until) in milliseconds since 1970 UTC. The time of a file is when it came to rest or,
  /// while it has not, when it was added; attempts are in it when they overlap it.
  public var sinceMs: Int64?
  public var untilMs: Int64?
  /// Which time of a file the window is about; nil for when it came to rest or, while it has not, was added.
  public var placedBy: FileMoment?
  /// Only files that go this way; nil for both.
  public var direction: Direction?
  /// The smallest and the largest size, both included. A file whose size is not known is not within them.
  public var minSize: Int64?
  public var maxSize: Int64?
  /// Only files at rest that took longer than this from their first attempt to their end.
  public var slowerThanMs: Int64?
  /// How many attempts a file has; nil for any number.
  public var attemptCount: ClosedRange<Int64>?
  /// Only done files of which the server showed no more than success.
  public var isUnverified = false
  /// Without what people tidied away.
  public var leavesOutHidden = false
  /// Only files of this share of all, by their numbers; nil for every file.
  public var share: FileShare?
  /// For failures: only files that ended at this time or later, and unknown ones.
  public var finishedSinceMs: Int64?

  public init() {}

  /// Selects no row.
  public static var nothing: RowFilter {
    var filter = RowFilter()
    filter.withinBatches = []
    return filter
  }

  public static func batch(_ id: BatchID) -> RowFilter {
    var filter = RowFilter()
    filter.withinBatches = [id.rawValue]
    return filter
  }

  public static func files(_ ids: [FileID]) -> RowFilter {
    var filter = ids.isEmpty ? nothing : RowFilter()
    filter.files = ids.map { $0.rawValue...$0.rawValue }
    return filter
  }

  public static func states(_ states: [FileState]) -> RowFilter {
    var filter = RowFilter()
    filter.states = states
    return filter
  }

  /// The same, also of what people tidied away.
  public var withHidden: RowFilter {
    var filter = self
    filter.leavesOutHidden = false
    return filter
  }

  /// Whether anything is said about files that is not said of their batch.
  package var narrowsFiles: Bool {
    !states.isEmpty || isBackingOff || !errors.isEmpty || !paths.isEmpty || direction != nil || minSize != nil
      || maxSize != nil || slowerThanMs != nil || attemptCount != nil || isUnverified || share != nil
  }
}

/// A time of a file by which a window places it; raw values are what people type.
public enum FileMoment: String, Sendable, CaseIterable {
  /// Its first attempt.
  case started
  /// When it came to rest.
  case finished
  /// When it was added.
  case created
}
