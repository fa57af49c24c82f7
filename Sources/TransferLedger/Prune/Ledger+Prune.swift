import TransferModel

/// Deletes history. Files to prune are searched for with the ledger's own connection, a page at a time. Each part of a
/// page is pruned in its own transaction, which checks the files again and records the deletion. If the process crashes
/// in between, the same command does the rest.
extension Ledger {
  /// Files that are searched for at a time: 8 bytes each.
  static let prunedAtOnce = 10_000
  /// Callbacks that are deleted in one transaction.
  private static let callbacksAtOnce = 1_000

  /// Deletes history that ended before `beforeMs` (milliseconds since 1970 UTC) and that nothing continues; see
  /// `PruneOutcome`. Blocking; durable on return. `between` is called after each part.
  ///
  /// Throws `.usage` for a time in the future, and the errors of the store.
  package func prune(before beforeMs: Int64, between: () -> Void = {}) throws(TransferError) -> PruneOutcome {
    try requirePast(beforeMs)
    let freeBefore = try read { try $0.freeBytes() }
    let last = try read { try $0.newestFile(createdBefore: beforeMs) }
    var (outcome, event): (PruneOutcome, Int64?) = (PruneOutcome(beforeMs: beforeMs), nil)
    for superseded in [true, false] {
      var after: Int64 = 0
      while true {
        let page = try read { try $0.filesToPrune(superseded, after..<last, beforeMs, limit: Self.prunedAtOnce) }
        try SliceSize.walk(page) { part throws(TransferError) in
          let (clock, first) = (clock, event)
          let done = try writeUnreferenced { tx in
            let startMs = clock.bootMs
            return (try tx.prune(part, before: beforeMs, partOf: first), ms: clock.bootMs - startMs)
          }
          event = event ?? done.0.event
          outcome.pruned += done.0.rows
          between()
          return done.ms
        }
        guard page.count == Self.prunedAtOnce, let newest = page.last else { break }
        after = newest.rawValue
      }
    }
    while true {
      let count = try writeUnreferenced { tx in
        try tx.pruneBatchCallbacks(before: beforeMs, limit: Self.callbacksAtOnce)
      }
      outcome.pruned.callbacks += Int64(count)
      guard count == Self.callbacksAtOnce else { break }
      between()
    }
    if event != nil {
      try addUpHistory {
        between(); return false
      }
    }
    try finish(&outcome, freeBefore)
    return outcome
  }

  /// What ``prune(before:between:)`` would do now.
  package func pruneOutcome(before beforeMs: Int64) throws(TransferError) -> PruneOutcome {
    try requirePast(beforeMs)
    return try read { reader in
      var outcome = PruneOutcome(beforeMs: beforeMs)
      let last = try reader.newestFile(createdBefore: beforeMs)
      for superseded in [true, false] {
        var after: Int64 = 0
        while true {
          let page = try reader.filesToPrune(superseded, after..<last, beforeMs, limit: Self.prunedAtOnce)
          outcome.pruned += try reader.rowsToPrune(page)
          guard page.count == Self.prunedAtOnce, let newest = page.last else { break }
          after = newest.rawValue
        }
      }
      outcome.pruned.callbacks += try reader.batchCallbacksToPrune(before: beforeMs)
      outcome.kept = try reader.filesKept(before: beforeMs) - outcome.pruned.histories - outcome.pruned.files
      outcome.fileBytes = try reader.fileBytes()
      return outcome
    }
  }

  private func finish(_ outcome: inout PruneOutcome, _ freeBefore: Int64) throws(TransferError) {
    let beforeMs = outcome.beforeMs
    let (kept, free, bytes) = try read {
      (try $0.filesKept(before: beforeMs), try $0.freeBytes(), try $0.fileBytes())
    }
    (outcome.kept, outcome.bytesFreed, outcome.fileBytes) = (kept, max(0, free - freeBefore), bytes)
  }

  private func requirePast(_ beforeMs: Int64) throws(TransferError) {
    guard beforeMs > clock.wallMs else { return }
    throw TransferError(
      .usage, "prune the ledger", cause: "\(CivilTime(wallMs: beforeMs).rfc3339) is in the future",
      remedy: "give a period or a time before now")
  }
}
