import TransferLedger
import TransferModel

extension Engine {
  /// Queries the destinations of the selected done uploads about each of them, many at a time. Blocks. Each request has
  /// its own attempt, which is durable before the request is sent. The finding for a file becomes its next receipt,
  /// which is durable when `told` is called with it, on the calling thread. No file is begun, and no session ended.
  /// - Returns: the number of files not queried because a stop was requested.
  /// - Throws: as ``work(until:)``.
  package func ask(
    _ filter: RowFilter, until stop: StopSignal, told: (DoneUpload, QuestionEnd) -> Void
  ) throws(TransferError) -> Int {
    try recover()
    let questions = Questions(engine: self, filter)
    stop.onRequest(questions.takesStop)
    ledger.retryCommits(CommitRetry(forMs: configuration.diskWaitMs) { _ in })
    do throws(TransferError) {
      let left = try questions.work(told)
      let how = questions.stopped.map { $0 == .drain ? StopCause.drained : .interrupted }?.rawValue ?? "done"
      _ = try ledger.write { tx in try tx.endRun(run, how: how, processorMs: clock.processorMs) }
      try? ledger.addUpHistory(until: { stop.isAsked })
      return left
    } catch {
      let how = "failed: \(error.kind.rawValue)"
      _ = try? ledger.write { tx in try tx.endRun(run, how: how, processorMs: clock.processorMs) }
      throw error
    }
  }
}
