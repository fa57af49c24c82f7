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
  /// Ids of starts that were withdrawn, because the receiver had refused them when their run ended.
  private var withdrawnStarts: Set<String> = []

  init(_ tree: SourceTree) { self.tree = tree }

  func judge(_ run: YearRun, _ server: YearServer, _ tally: inout YearTally) throws(YearFailure) {
    try judgeDeliveries(run, &tally)
    try judgeRemovals(run, server, &tally)
    guard run.job == tree.job else { return }
    if !run.isStruck { recordedRuns += 1 }
    guard run.code == 0 || run.code == 5, !run.isStruck else { return }
    for (name, now) in tree.current.sorted(by: { $0.key < $1.key }) where !run.touched.contains(key(name)) {
      if run.code == 0, isDue(now, in: run), let place = unsent(now, server) {
        throw YearFailure(
          "\(place)/\(name) was written at \(now.sinceMs) ms and seen at \(now.seenMs ?? 0), and the run from \(run.startMs) to"
            + " \(run.endMs) ended with 0 without sending it: \(run.err)")
      }
      // A limit may have stopped the scan of a run that left work.
      if run.code == 0, now.seenMs == nil, now.sinceMs <= run.startMs { now.seenMs = run.endMs }
    }
  }

  private func key(_ name: String) -> String { "\(tree.job.name)/\(name)" }

  /// A folder of the server to which the generation was certainly not delivered, although it should have been.
  private func unsent(_ generation: Generation, _ server: YearServer) -> String? {
    tree.job.places.first { place in
      generation.deliveries[place] == nil && !generation.mayBeRecorded.contains(place)
        && !(tree.job.dedupes && server.holds(generation.content, in: place))
    }
  }

  /// Whether each folder of the server has the content, under this name or, without duplicates, under any.
  private func isThere(_ content: Content, as name: String, _ server: YearServer) -> Bool {
    tree.job.places.allSatisfy { place in
      server.object("\(place)/\(name)") == content || tree.job.dedupes && server.holds(content, in: place)
    }
  }

  private func isDue(_ generation: Generation, in run: YearRun) -> Bool {
    guard generation.isReady else { return false }
    if tree.job.settleMs == 0 { return generation.sinceMs <= run.startMs }
    return generation.seenMs.map { $0 + tree.job.settleMs <= run.startMs } ?? false
  }

  private func judgeDeliveries(_ run: YearRun, _ tally: inout YearTally) throws(YearFailure) {
    for place in tree.job.places { try judge(run.arrived[place] ?? [], at: place, run, &tally) }
  }

  private func judge(
    _ deliveries: [YearServer.Delivery], at place: String, _ run: YearRun, _ tally: inout YearTally
  ) throws(YearFailure) {
    for delivery in deliveries {
      tally.deliveries += 1
      let name = String(delivery.key.dropFirst(place.count + 1))
      let generation = delivery.content.flatMap { tree.past[name]?[$0] }
      guard !run.touched.contains(key(name)) else {
        // Also a generation that a writer made during the run may be recorded, if the scan came later.
        if delivery.isAnswered { generation?.mayBeRecorded.insert(place) }
        continue
      }
      guard let generation else { throw YearFailure("\(delivery.key): the server got content that the file never had") }
      guard generation.isReady, delivery.bootMs - generation.sinceMs >= tree.job.settleMs else {
        let age = delivery.bootMs - generation.sinceMs
        throw YearFailure("\(delivery.key) was sent \(age) ms after it was written, or before it was complete")
      }
      guard generation.deliveries[place] == nil else { throw YearFailure("\(delivery.key) was sent again") }
      guard delivery.isAnswered, !run.isStruck else {
        if delivery.isAnswered { generation.mayBeRecorded.insert(place) }
        continue
      }
      generation.deliveries[place] = 1
      guard place == tree.job.name else { continue }
      tally.generations += 1
      toldOf[name, default: 0] += 1
    }
  }

  private func judgeRemovals(_ run: YearRun, _ server: YearServer, _ tally: inout YearTally) throws(YearFailure) {
    for (name, generation) in tree.takeRemoved() {
      tally.removed += 1
      guard tree.job.fate != .keep else { throw YearFailure("\(key(name)) was removed") }
      guard isThere(generation.content, as: name, server) else {
        throw YearFailure("\(key(name)) was removed, and the server has another content or none")
      }
      if tree.job.fate == .move, tree.takeMoved(name) != generation.content {
        throw YearFailure("\(key(name)) was moved, and is not at its new place")
      }
    }
  }

  // MARK: - Calm phase

  /// Checks the state after enough runs without faults. `withdrawn` has the ids of starts that were withdrawn.
  func judgeInCalm(_ server: YearServer, withdrawn: Set<String>) throws(YearFailure) {
    withdrawnStarts.formUnion(withdrawn)
    for (name, now) in tree.current.sorted(by: { $0.key < $1.key }) {
      guard isThere(now.content, as: name, server) else { throw YearFailure("\(key(name)) was never sent") }
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
    if tree.job.tellsOfRuns { try judgeToldRuns(server) }
  }

  private func judgeToldRuns(_ server: YearServer) throws(YearFailure) {
    let (ends, starts) = ("runs-\(tree.job.name)", "ping-\(tree.job.name)/start")
    let refusals = server.refusals(by: starts)
    guard withdrawnStarts.count <= refusals else {
      throw YearFailure("\(withdrawnStarts.count) starts were withdrawn, and \(starts) refused \(refusals) calls")
    }
    for (receiver, withdrawn) in [(ends, 0), (starts, withdrawnStarts.count)] {
      let told = server.told(receiver)
      guard told + withdrawn >= recordedRuns else {
        throw YearFailure(
          "\(receiver) was told of \(told) runs, \(withdrawn) starts were withdrawn, and \(recordedRuns) runs have ended"
        )
      }
    }
  }
}
