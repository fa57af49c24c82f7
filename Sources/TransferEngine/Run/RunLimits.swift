import TransferLedger
import TransferModel
import TransferProtocols

/// The limits of a run in time and bytes. No body begins that would exceed either. When the time is over, or no further
/// body fits, the run is drained. Used by the engine's thread.
final class RunLimits {
  private let engine: Engine
  private let stop: RunStop
  private let hosts: Hosts
  private let requests: Requests
  private let files: FilesInWork
  private let intake: FileIntake
  private let claims: Claims
  private let commits: Commits
  private let shutdown: Shutdown
  /// By the boot clock; nil for no limit.
  private let endMs: Int64?

  init(
    _ engine: Engine, stop: RunStop, hosts: Hosts, requests: Requests, files: FilesInWork, intake: FileIntake,
    claims: Claims, commits: Commits, shutdown: Shutdown
  ) {
    (self.engine, self.stop, self.hosts, self.requests, self.shutdown) = (engine, stop, hosts, requests, shutdown)
    (self.files, self.intake, self.claims, self.commits) = (files, intake, claims, commits)
    endMs = engine.configuration.maxDurationMs.map { engine.bootMs +| $0 }
    hosts.setLimits(endMs: endMs, bytes: engine.configuration.maxBytes)
  }

  func apply() {
    guard !stop.isStopping else { return }
    if let endMs, engine.bootMs >= endMs { return end() }
    // Running requests may return bytes that they did not move, and bodies that are still being prepared may fit.
    guard hosts.scheduler.isOutOfBytes, hosts.scheduler.sendingCount == 0, !isMoreToCome else { return }
    tellTooLong()
    end()
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
    var told: Set<FileID> = []
    for job in requests.all.values.sorted(by: { $0.id < $1.id }) {
      guard let body = job.range?.length, body > most, let work = files[job.file], told.insert(job.file).inserted else {
        continue
      }
      let path = work.machine.claimed.path
      engine.observer.notice(.tooLong(path: path, size: work.machine.facts.file.size, body: body, limit: most))
    }
  }

  func waitMs(nowMs: Int64) -> Int64 { endMs.map { stop.isStopping ? .max : max(1, $0 - nowMs) } ?? .max }

  private func end() {
    shutdown.ask(.drain)
    stop.end(for: .limit)
  }
}
