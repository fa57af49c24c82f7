/// Changes to batches. Properties that are nil or missing stay unchanged.
public struct BatchChange: Sendable, Hashable {
  public enum Limit: Sendable, Hashable {
    case lifted
    case to(Int64)
  }
  /// Higher values are sent first; also applied to the unfinished files of the batch.
  public var priority: Int64?
  /// Bytes a second for all its requests together, at least 1.
  public var rate: Limit?
  /// Requests at a time, at least 1.
  public var workers: Limit?
  /// Milliseconds since 1970 UTC.
  public var deadlineMs: Limit?
  /// A nil value removes the label.
  public var labels: [String: String?] = [:]
  /// Keeps sources that were not deleted or moved yet; cannot be undone.
  public var keepsSources = false

  public init() {}
}

/// The result of changing batches, or of a dry run.
public struct BatchOutcome: Sendable, Hashable {
  public var changed: [BatchID] = []
  /// Batches that already have these values.
  public var unaffected: [BatchID] = []

  package init() {}
}
