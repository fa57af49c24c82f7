import TransferModel

/// The result of one run of a job.
struct YearRun {
  let job: YearJob
  let code: Int32
  let startMs: Int64
  let endMs: Int64
  /// Whether the disk below the ledger failed during it.
  let isStruck: Bool
  /// Keys of files that a writer touched during it.
  let touched: Set<String>
  /// What the server received, by the job that it belongs to.
  let arrived: [String: [YearServer.Delivery]]
  /// The standard error of the run.
  let err: String
}

/// Checks whether each run of a job did what it must, by what the server received and what is on the disk. Used between
/// the runs, and during a run under the lock of its year.
final class YearJudge: @unchecked Sendable {
  let tree: SourceTree
  /// By name: generations that were certainly delivered; each of them must be reported.
  private var toldOf: [String: Int] = [:]
  /// Runs whose end was certainly recorded.
  private var recordedRuns = 0

  init(_ tree: SourceTree) { self.tree = tree }

  func judge(_ run: YearRun, _ server: YearServer, _ tally: inout YearTally) throws(YearFailure) {
    try judgeDeliveries(run, &tally)
    try judgeRemovals(run, server, &tally)
    guard run.job == tree.job else { return }
    if !run.isStruck { recordedRuns += 1 }
    guard run.code == 0 || run.code == 5, !run.isStruck else { return }
    for (name, now) in tree.current.sorted(by: { $0.key < $1.key }) where !run.touched.contains(key(name)) {
      if run.code == 0, isDue(now, in: run), now.deliveries == 0, !now.mayBeRecorded {
        throw YearFailure(
          "\(key(name)) was written at \(now.sinceMs) ms and seen at \(now.seenMs ?? 0), and the run from \(run.startMs) to"
            + " \(run.endMs) ended with 0 without sending it: \(run.err)")
      }
      // A limit may have stopped the scan of a run that left work.
      if run.code == 0, now.seenMs == nil, now.sinceMs <= run.startMs { now.seenMs = run.endMs }
    }
  }

  private func key(_ name: String) -> String { "\(tree.job.name)/\(name)" }

  private func isDue(_ generation: Generation, in run: YearRun) -> Bool {
    guard generation.isReady else { return false }
    if tree.job.settleMs == 0 { return generation.sinceMs <= run.startMs }
    return generation.seenMs.map { $0 + tree.job.settleMs <= run.startMs } ?? false
  }

  private func judgeDeliveries(_ run: YearRun, _ tally: inout YearTally) throws(YearFailure) {
    for delivery in run.arrived[tree.job.name] ?? [] {
      tally.deliveries += 1
      if run.touched.contains(delivery.key) { continue }
      let name = String(delivery.key.dropFirst(tree.job.name.count + 1))
      guard let content = delivery.content, let generation = tree.past[name]?[content] else {
        throw YearFailure("\(delivery.key): the server got content that the file never had")
      }
      guard generation.isReady, delivery.bootMs - generation.sinceMs >= tree.job.settleMs else {
        let age = delivery.bootMs - generation.sinceMs
        throw YearFailure("\(delivery.key) was sent \(age) ms after it was written, or before it was complete")
      }
      guard generation.deliveries == 0 else { throw YearFailure("\(delivery.key) was sent again") }
      guard delivery.isAnswered, !run.isStruck else {
        if delivery.isAnswered { generation.mayBeRecorded = true }
        continue
      }
      generation.deliveries += 1
      tally.generations += 1
      toldOf[name, default: 0] += 1
    }
  }

  private func judgeRemovals(_ run: YearRun, _ server: YearServer, _ tally: inout YearTally) throws(YearFailure) {
    for (name, generation) in tree.takeRemoved() {
      tally.removed += 1
      guard tree.job.fate != .keep else { throw YearFailure("\(key(name)) was removed") }
      guard server.object(key(name)) == generation.content else {
        throw YearFailure("\(key(name)) was removed, and the server has another content or none")
      }
      if tree.job.fate == .move, tree.takeMoved(name) != generation.content {
        throw YearFailure("\(key(name)) was moved, and is not at its new place")
      }
    }
  }

  // MARK: - Calm phase

  /// Checks the state after enough runs without faults.
  func judgeInCalm(_ server: YearServer) throws(YearFailure) {
    for (name, now) in tree.current.sorted(by: { $0.key < $1.key }) {
      guard server.object(key(name)) == now.content else { throw YearFailure("\(key(name)) was never sent") }
      guard tree.job.fate == .keep else { throw YearFailure("\(key(name)) was sent, and its source still exists") }
    }
    if tree.job.tellsOfFiles {
      for (name, count) in toldOf.sorted(by: { $0.key < $1.key }) {
        let told = server.told("\(tree.job.name) file.done in/\(key(name))")
        guard told >= count else {
          throw YearFailure("\(key(name)) was done \(count) times, and reported \(told) times")
        }
      }
    }
    guard tree.job.tellsOfRuns else { return }
    for receiver in ["runs-\(tree.job.name)", "ping-\(tree.job.name)/start"] {
      let told = server.told(receiver)
      guard told >= recordedRuns else {
        throw YearFailure("\(receiver) was told of \(told) runs, and \(recordedRuns) have ended")
      }
    }
  }
}
