/// Selects rows: the selection that a person typed, with names resolved. Different properties are combined with AND,
/// values of one with OR; file and batch IDs are one property. Empty means everything that is not hidden.
///
/// In SQL it is one constant condition, inserted where a statement says `{files}`, `{attempts}` …: see
/// ``RowFilter/parts``.
public struct RowFilter: Sendable, Hashable {
  /// Numbers of files, both ends included.
  public var files: [ClosedRange<Int64>] = []
  /// Numbers of batches, both ends included.
  public var batches: [ClosedRange<Int64>] = []
  /// Numbers of chunks and attempts. Used only by lists of chunks and attempts.
  public var chunks: [ClosedRange<Int64>] = []
  public var attempts: [ClosedRange<Int64>] = []
  /// Numbers of upload sessions. Used only by the list of sessions left on servers.
  public var sessions: [ClosedRange<Int64>] = []
  /// Restricts everything to these batches; nil for all batches. From names, labels and destinations.
  public var withinBatches: [Int64]?
  public var states: [FileState] = []
  /// Adds pending files in backoff to ``states``.
  public var isBackingOff = false
  /// Only unknown files, and those that were cancelled when they may have arrived and that nobody has decided about.
  package var isUndecided = false
  /// A retry leaves out files that were cancelled when they may have arrived: they were not named, and their state does
  /// not say so. This narrows no list.
  package var sparesUncertain = false
  /// GLOBs over error codes: `net.*`. For files it is their cause, for attempts their own error.
  public var errors: [String] = []
  /// GLOBs over the paths of sources, as bytes. `*` also matches slashes.
  public var paths: [NameBytes] = []
  /// The half-open window [since, until) in milliseconds since 1970 UTC. A file counts at the time when it ended or, if
  /// it has not, when it was added; attempts are included if they overlap the window.
  public var sinceMs: Int64?
  public var untilMs: Int64?
  /// The time of a file to which the window applies; nil for its end or, if it has not ended, its addition.
  public var placedBy: FileMoment?
  /// Only files of this direction; nil for both.
  public var direction: Direction?
  /// Minimum and maximum size, inclusive. Files of unknown size are excluded.
  public var minSize: Int64?
  public var maxSize: Int64?
  /// Only ended files that took longer than this from their first attempt to their end.
  public var slowerThanMs: Int64?
  /// How many attempts a file has; nil for any number.
  public var attemptCount: ClosedRange<Int64>?
  /// Only done files that the server confirmed with nothing but success.
  public var isUnverified = false
  /// Excludes hidden files.
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

  /// The same filter including hidden files.
  public var withHidden: RowFilter {
    var filter = self
    filter.leavesOutHidden = false
    return filter
  }

  /// Whether it restricts files by more than their batch.
  package var narrowsFiles: Bool {
    !states.isEmpty || isBackingOff || isUndecided || !errors.isEmpty || !paths.isEmpty || direction != nil
      || minSize != nil || maxSize != nil || slowerThanMs != nil || attemptCount != nil || isUnverified || share != nil
  }
}

/// The time of a file to which a window applies; raw values are the option values.
public enum FileMoment: String, Sendable, CaseIterable {
  /// Its first attempt.
  case started
  /// When it ended.
  case finished
  /// When it was added.
  case created
}
