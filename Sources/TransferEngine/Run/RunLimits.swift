import TransferLedger
import TransferModel
import TransferProtocols

/// The limits of a run in time and bytes. No body begins that would exceed either, and no file is claimed whose only
/// body would exceed what is left of the bytes. When the time is over, or no further body fits, the run is drained.
/// Used by the engine's thread.
final class RunLimits {
  /// The maximum number of files that are reported because they are longer than the limit.
  private static let mostTold = 256

  private let engine: Engine
  private let stop: RunStop
  private let hosts: Hosts
  private let batches: Batches
  private let requests: Requests
  private let outcomes: RequestOutcomes
  private let files: FilesInWork
  private let intake: FileIntake
  private let claims: Claims
  private let commits: Commits
  private let shutdown: Shutdown
  /// By the clock that stops while the machine sleeps; nil for no limit.
  private let endAwakeMs: Int64?
  /// Files that were reported because they are longer than the limit.
  private var told: Set<FileID> = []
  /// How many of them are sent in parts, and how many in one body, by batch.
  private var inParts: [BatchID: Int] = [:]
  private var inOneBody: [BatchID: Int] = [:]
  /// See ``RunResult/tooLong``.
  var tooLong: [BatchID: Int] { inParts.merging(inOneBody, uniquingKeysWith: +) }
  /// Files remain that are longer than what is left of the limit.
  private var leavesLongFiles = false
  /// The same, and files whose bodies turned out to be longer.
  var leavesFiles: Bool { leavesLongFiles || outcomes.holdsForLimit }

  init(
    _ engine: Engine, stop: RunStop, hosts: Hosts, batches: Batches, requests: Requests, outcomes: RequestOutcomes,
    files: FilesInWork, intake: FileIntake, claims: Claims, commits: Commits, shutdown: Shutdown
  ) {
    (self.engine, self.stop, self.hosts, self.requests, self.shutdown) = (engine, stop, hosts, requests, shutdown)
    (self.batches, self.outcomes) = (batches, outcomes)
    (self.files, self.intake, self.claims, self.commits) = (files, intake, claims, commits)
    let mostMs = engine.configuration.maxDurationMs
    endAwakeMs = mostMs.map { engine.clock.awakeMs +| $0 }
    // Later if the machine sleeps.
    hosts.setLimits(endMs: mostMs.map { engine.bootMs +| $0 }, bytes: engine.configuration.maxBytes)
  }

  func apply() {
    guard !stop.isStopping else { return }
    if let endAwakeMs, engine.clock.awakeMs >= endAwakeMs { return end() }
    // Running requests may return bytes that they did not move, and bodies that are still being prepared may fit.
    guard hosts.scheduler.isOutOfBytes, hosts.scheduler.sendingCount == 0, !isMoreToCome else { return }
    do throws(TransferError) {
      if try makesRoom() { return }
    } catch {
      return stop.fail(error)
    }
    tellTooLong()
    end()
  }

  /// Releases files whose only body no longer fits, if files that fit, or whose body is stored, are ready behind them:
  /// the next claims leave the released ones out, and take the others.
  /// - Returns: whether any were released.
  private func makesRoom() throws(TransferError) -> Bool {
    let leftOut = batches.sizesLeftOut
    let long = files.all.filter { _, work in
      leftOut[work.destination.batch]?.contains(work.machine.facts.file.size) == true && work.machine.ending == nil
        && work.machine.doneCount == 0
    }
    guard !long.isEmpty else { return false }
    let closed = hosts.all.filter { hosts.isClosed($0) }.map(\.name)
    let without = batches.resting.union(batches.batches(ofHosts: Set(closed)))
    // For batches without such sizes it is not known in advance which files fit, so they are tried.
    let others = Set(batches.all.map(\.batch)).subtracting(without)
    guard try engine.ledger.read({ reader in try reader.hasReadyFiles(among: others, leftOut: leftOut) }) else {
      return false
    }
    for file in long.keys { outcomes.release(file, notBeforeMs: nil) }
    claims.wake()
    return true
  }

  /// At the end of the run, reports the files that were never claimed because no run with this limit can send them.
  /// Files of a batch that rests for another reason are not held back by the limit.
  func tellLeftOut() throws(TransferError) {
    guard let most = engine.configuration.maxBytes, [nil, .limit, .notDue].contains(stop.cause) else { return }
    let resting = batches.resting
    let left = batches.sizesLeftOut.filter { !resting.contains($0.key) }
    leavesLongFiles = try engine.ledger.read { reader in
      try left.contains { try !reader.readyFiles(of: $0.key, sizes: $0.value, limit: 1).isEmpty }
    }
    let whole = batches.wholeFiles(above: most).filter { !resting.contains($0.key) }.sorted { $0.key < $1.key }
    let found = try engine.ledger.read { reader in
      try whole.flatMap { try reader.readyFiles(of: $0.key, sizes: $0.value, limit: Self.mostTold) }
    }
    inOneBody = try engine.ledger.read { reader in
      try Dictionary(uniqueKeysWithValues: whole.map { ($0.key, try reader.readyCount(of: $0.key, sizes: $0.value)) })
        .filter { $0.value > 0 }
    }
    for file in found.prefix(Self.mostTold) where told.insert(file.id).inserted {
      engine.observer.notice(.tooLong(path: file.path, size: file.size, body: file.size, limit: most))
    }
  }

  /// Whether more bodies may become ready: requests are being prepared, results wait for their commit, files are being
  /// claimed, or, if all ready bodies exceed the limit, shorter files can be claimed. Once the limit itself is used up,
  /// no more files are claimed.
  private var isMoreToCome: Bool {
    !requests.areAllReady || !commits.isIdle || claims.isClaiming
      || (hosts.scheduler.areAllTooLong && intake.mayClaim && claims.nextMs <= engine.wallMs)
  }

  /// Reports the files that no run with this limit can send.
  private func tellTooLong() {
    guard let most = engine.configuration.maxBytes else { return }
    let whole = batches.wholeFiles(above: most)
    for pending in requests.all.values.sorted(by: { $0.id < $1.id }) {
      guard let body = pending.range?.length, body > most, let work = files[pending.file],
        told.insert(pending.file).inserted
      else {
        continue
      }
      // The others are counted at the end of the run.
      let (batch, size) = (work.destination.batch, work.machine.facts.file.size)
      if whole[batch]?.contains(size) != true { inParts[batch, default: 0] += 1 }
      let path = work.machine.claimed.path
      engine.observer.notice(.tooLong(path: path, size: size, body: body, limit: most))
    }
  }

  func waitMs() -> Int64 { endAwakeMs.map { stop.isStopping ? .max : max(1, $0 - engine.clock.awakeMs) } ?? .max }

  private func end() {
    shutdown.ask(.drain)
    stop.end(for: .limit)
  }
}
