/// What a person changes about batches. What is nil or missing stays as it is.
public struct BatchChange: Sendable, Hashable {
  public enum Limit: Sendable, Hashable {
    case lifted
    case to(Int64)
  }
  /// Higher values are sent first; given to those of its files that are not at rest, too.
  public var priority: Int64?
  /// Bytes a second for all its requests together, at least 1.
  public var rate: Limit?
  /// Requests at a time, at least 1.
  public var workers: Limit?
  /// Milliseconds since 1970 UTC.
  public var deadlineMs: Limit?
  /// A value that is nil removes the label.
  public var labels: [String: String?] = [:]
  /// Sources that were not deleted or moved yet stay; nothing takes this back.
  public var keepsSources = false

  public init() {}
}

/// What changing batches did, or would do.
public struct BatchOutcome: Sendable, Hashable {
  public var changed: [BatchID] = []
  /// They are so already.
  public var unaffected: [BatchID] = []

  public init() {}
}
