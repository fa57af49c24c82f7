import TransferModel

/// The settings of a batch that can be changed, as they are now.
struct ChangeableSettings: Sendable, Hashable {
  var id: BatchID
  var priority: Int64
  var rate, workers, deadlineMs: Int64?
  var labels: [String: String]
  /// Deletes or moves sources once their files are done.
  var removesSources: Bool

  func applying(_ change: BatchChange) -> ChangeableSettings {
    var new = self
    new.priority = change.priority ?? priority
    new.rate = Self.applied(change.rate, rate)
    new.workers = Self.applied(change.workers, workers)
    new.deadlineMs = Self.applied(change.deadlineMs, deadlineMs)
    for (key, value) in change.labels { new.labels[key] = value }
    if change.keepsSources { new.removesSources = false }
    return new
  }

  private static func applied(_ change: BatchChange.Limit?, _ old: Int64?) -> Int64? {
    switch change {
    case nil: old
    case .lifted: nil
    case .to(let value): value
    }
  }

  /// `rate 20971520 bytes/s, label run=42`: what is different in `new`, for the history.
  func difference(to new: ChangeableSettings) -> String {
    var parts: [String] = []
    if new.priority != priority { parts.append("priority \(new.priority)") }
    if new.rate != rate { parts.append("rate \(new.rate.map { "\($0) bytes/s" } ?? "none")") }
    if new.workers != workers { parts.append("workers \(new.workers.map(String.init) ?? "none")") }
    if new.deadlineMs != deadlineMs {
      parts.append("deadline \(new.deadlineMs.map { CivilTime(wallMs: $0).rfc3339 } ?? "none")")
    }
    for key in Set(labels.keys).union(new.labels.keys).sorted() where labels[key] != new.labels[key] {
      parts.append("label \(key)=\(new.labels[key] ?? "")")
    }
    if new.removesSources != removesSources { parts.append("after keep") }
    return parts.joined(separator: ", ")
  }
}

extension BatchOutcome {
  init(_ batches: [ChangeableSettings], _ change: BatchChange) {
    self.init()
    for batch in batches {
      if batch.applying(change) == batch { unaffected.append(batch.id) } else { changed.append(batch.id) }
    }
  }
}
