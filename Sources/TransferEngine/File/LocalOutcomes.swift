import TransferLedger
import TransferModel
import TransferProtocols

/// What the end of work on the local file of a download means for the file. Used by the engine's thread.
final class LocalOutcomes {
  private let engine: Engine
  private let tally: RunTally
  private let files: FilesInWork
  /// It was said that owners or permissions may not be set.
  private var hasToldOfAccess = false

  init(_ engine: Engine, tally: RunTally, files: FilesInWork) {
    (self.engine, self.tally, self.files) = (engine, tally, files)
  }

  /// The local file of a download was renamed, or could not be.
  func placed(_ file: FileID, _ proof: FileProof, _ placed: Result<Placed, Failure>) {
    guard let work = files[file], work.refusal == nil else { return }
    work.sha256 = (try? placed.get())?.sha256
    let result = placed.map(\.identity)
    let places = work.destination.resolved.transferProtocol.places
    var renewal: [String: String]?
    if case .failure(let failure) = result { renewal = places?.renewal(after: failure, work.machine.facts) }
    let changes = work.machine.placed(result, proof, retryMs: retryMs(work, result), renewal: renewal)
    tellOfAccess(work)
    files.advance(file, changes: changes)
  }

  /// Once in a run, because it would be the same for each file.
  private func tellOfAccess(_ work: FileWork) {
    guard !hasToldOfAccess, let refused = work.target?.refusedAccess.withLock({ $0 }) else { return }
    hasToldOfAccess = true
    tally.noted(work.machine, "\(refused.message); files keep what this system gives them (said once)")
  }

  /// The intact data of the local file of a download was copied.
  func reused(_ file: FileID, _ proof: FileProof, _ result: Result<Reused, Failure>) {
    guard let work = files[file], work.refusal == nil else { return }
    let before = work.machine.bytesStored
    if case .success(let found) = result, let remark = found.remark { tally.noted(work.machine, remark) }
    let changes = work.machine.reused(result, proof, retryMs: retryMs(work, result))
    tally.reused(bytes: work.machine.bytesStored - before)
    if let partial = try? result.get().partial { work.recorded = partial }
    files.advance(file, changes: changes)
  }

  /// The retry time after one more consecutive failure that no request caused.
  private func retryMs<T>(_ work: FileWork, _ result: Result<T, Failure>) -> Int64 {
    if case .failure(let failure) = result, failure.isOfFullDisk {
      tally.waits(work.machine, failure)
      return engine.wallMs + RetryPolicy.nextRunMs
    }
    var generator = SystemRandomNumberGenerator()
    let number = work.machine.failures + 1
    return engine.wallMs
      + engine.configuration.retry.delayMs(
        afterFailure: number, isThrottled: false, retryAfterMs: nil, using: &generator)
  }
}
