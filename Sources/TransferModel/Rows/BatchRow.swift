/// One batch with the sums of its files.
public struct BatchRow: Sendable, Hashable {
  public var id: BatchID
  public var uid: String
  public var name: String?
  public var destination: String
  public var protocolName: String
  public var labels: [String: String]
  public var priority: Int64
  /// The configured job that made it.
  public var job: String?
  /// Milliseconds since 1970 UTC, as all times here.
  public var createdMs: Int64
  /// Start of the first and end of the last attempt; nil before.
  public var startedMs: Int64?
  public var finishedMs: Int64?
  public var limits: BatchLimits
  /// Without `unverified`.
  public var totals: FileTotals
  /// Why no run can send the files that are left: its settings cannot be read. nil if they can.
  public var fault: String?

  package init(
    id: BatchID, uid: String, name: String?, destination: String, protocolName: String, labels: [String: String],
    priority: Int64, createdMs: Int64, startedMs: Int64?, finishedMs: Int64?, limits: BatchLimits, totals: FileTotals,
    job: String? = nil
  ) {
    self.job = job
    self.id = id
    self.uid = uid
    self.name = name
    self.destination = destination
    self.protocolName = protocolName
    self.labels = labels
    self.priority = priority
    self.createdMs = createdMs
    self.startedMs = startedMs
    self.finishedMs = finishedMs
    self.limits = limits
    self.totals = totals
  }

  /// `done`, `failed`, `partial`, `active` or `pending`, by its files; `held` if those that are left cannot be sent.
  public var state: String {
    if fault != nil, totals.left > 0 { return "held" }
    if totals.left > 0 { return totals.count(.active) + totals.count(.finishing) > 0 ? "active" : "pending" }
    if totals.bad == 0 { return "done" }
    return totals.count(.done) > 0 ? "partial" : "failed"
  }
}

/// The limits of a batch.
public struct BatchLimits: Sendable, Hashable {
  /// Bytes a second for all its requests together.
  public var rate: Int64?
  /// Requests at a time.
  public var workers: Int?
  /// Milliseconds since 1970 UTC.
  public var deadlineMs: Int64?

  public init(rate: Int64? = nil, workers: Int? = nil, deadlineMs: Int64? = nil) {
    self.rate = rate
    self.workers = workers
    self.deadlineMs = deadlineMs
  }
}

/// A batch whose deadline has passed before all of its files were begun.
public struct OverdueBatch: Sendable, Hashable {
  public var id: BatchID
  /// Milliseconds since 1970 UTC.
  public var deadlineMs: Int64
  /// Its pending files.
  public var files: Int

  package init(id: BatchID, deadlineMs: Int64, files: Int) {
    self.id = id
    self.deadlineMs = deadlineMs
    self.files = files
  }
}
