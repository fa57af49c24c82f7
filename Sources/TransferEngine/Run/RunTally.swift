import TransferLedger
import TransferModel
import TransferProtocols

/// The figures of this run, for its result and for progress reports: owner of the ``RunProgress``. Used by the engine's
/// thread.
final class RunTally {
  private let engine: Engine
  private let startedMs: Int64
  private var result = RunResult()
  private var progress: RunProgress

  init(_ engine: Engine) {
    self.engine = engine
    startedMs = engine.bootMs
    progress = RunProgress(
      isHeard: engine.observer.progress != nil, everyMs: engine.configuration.progressEveryMs)
  }

  /// Files that became done in this run.
  var done: Int { result.done }

  // MARK: - Bytes

  /// Bytes of a body were moved, with any result.
  func moved(bytes: Int64) { result.bytesTransferred += bytes }

  /// Bytes of this run's requests were acknowledged.
  func acknowledged(bytes: Int64) { result.bytesAcked += bytes }

  /// Bytes of downloads existed locally, and were not fetched.
  /// - Parameter isStored: true if stored bytes are counted elsewhere.
  func reused(bytes: Int64, isStored: Bool = false) {
    result.bytesReused += bytes
    if !isStored { stored(bytes: bytes) }
  }

  /// The number of bytes stored on the server increased or decreased by this amount.
  func stored(bytes: Int64) { progress.stored(bytes: bytes) }

  // MARK: - Ends of files

  /// A file is released by `change`. `held` is the number of its bytes on the server.
  func count(_ change: FileChange, of machine: FileMachine, requestedAction: RequestedAction?, held: Int64) {
    switch change {
    case .complete:
      result.done += 1
      noteEnd(machine, nil, held: held)
    case .fail(let code, let message, _):
      result.failed += 1
      if code == .integrityMismatch { result.mismatched += 1 }
      noteEnd(machine, code, held: held)
      engine.observer.notice(.failed(path: machine.claimed.path, Failure(code, message)))
    // A cancelled file: the ledger records it as cancelled.
    case .unknown where requestedAction == .cancel || requestedAction == .remove: break
    case .unknown(let code, let message):
      result.unknown += 1
      noteEnd(machine, code, held: held)
      engine.observer.notice(.unknown(path: machine.claimed.path, Failure(code, message)))
    case .endDuplicate(let other):
      progress.ended(size: machine.facts.layout.size, bytesAcked: machine.facts.layout.size)
      engine.observer.notice(.skipped(path: machine.claimed.path, reason: other.reason))
    case .endGone(let reason):
      progress.ended(size: machine.facts.layout.size, bytesAcked: held)
      engine.observer.notice(.skipped(path: machine.claimed.path, reason: reason))
    case .supersede: engine.observer.notice(.sourceChanged(path: machine.claimed.path))
    case .renewSession(_, let failure): noted(machine, "\(failure.message); all of it is fetched again")
    case .release, .storeChunk, .findChunk, .retryChunk, .releaseChunk, .failChunk, .chunkUnknown, .advanceChunk,
      .prepareChunk, .storePiece, .noteMissing, .probeChunk, .doubtChunk, .disownChunks, .storeBeginning, .adoptChunks,
      .alignChunks,
      .confirmChunks, .resetChunks,
      .recut, .openSession, .askAbout, .beginOwnSession, .noteSession, .noteChunk, .giveUpSession,
      .endSession, .startFinishing,
      .notePartialFile, .reuseChunks, .notePlaced, .resumeSending, .sight, .admitListed, .endListing:
      break
    }
  }

  /// Reverts counts for a unit that was not applied.
  func takeBack(_ unit: FileUnit) {
    for change in unit.changes {
      switch change {
      case .complete: result.done -= 1
      case .fail(let code, _, _):
        result.failed -= 1
        if code == .integrityMismatch { result.mismatched -= 1 }
      case .unknown: result.unknown -= 1
      case .reuseChunks(let parts): result.bytesReused -= parts.reduce(0) { $0 + ($1.reused ?? $1.length) }
      case .storeChunk(_, _, let part): result.bytesReused -= part.reused ?? 0
      default: break
      }
    }
  }

  /// A file fails because the ledger refused a change.
  func refused() { result.failed += 1 }

  /// A refused file has ended in the ledger; nil if even that was refused.
  func abandoned(_ end: AbandonedFile?, _ file: FileID, reason: String) {
    let path = end?.path ?? NameBytes(file.description)
    guard end?.state == .unknown else {
      return engine.observer.notice(.failed(path: path, Failure(.engineBug, reason)))
    }
    result.failed -= 1
    result.unknown += 1
    engine.observer.notice(.unknown(path: path, Failure(.engineBug, reason)))
  }

  private func noteEnd(_ machine: FileMachine, _ code: ErrorCode?, held: Int64) {
    let acked = code == nil ? machine.facts.layout.size : held
    progress.ended(size: machine.facts.layout.size, bytesAcked: acked)
    if let code {
      progress.failed(FileProgress(machine, .failed(code), bytesAcked: acked), nowMs: engine.bootMs)
    }
  }

  // MARK: - Retries and hosts

  /// A request failed and is retried at `dueMs`, in wall milliseconds, after `failures` failed attempts.
  func retried(_ machine: FileMachine, _ failure: Failure, failures: Int, dueMs: Int64) {
    result.retries += 1
    let limit = engine.configuration.retry.maxAttempts
    let phase = FileProgress.Phase.retrying(inMs: 0, failure.code, number: min(failures + 1, limit), limit: limit)
    progress.retried(FileProgress(machine, phase, bytesAcked: machine.bytesStored), dueMs: dueMs)
    engine.observer.notice(
      .retrying(path: machine.claimed.path, failure, inMs: max(0, dueMs - engine.wallMs)))
  }

  /// Reports something about the file that is not a failure.
  func noted(_ machine: FileMachine, _ text: String) {
    engine.observer.notice(.noted(path: machine.claimed.path, text))
  }

  /// The file waits for the next run.
  func waits(_ machine: FileMachine, _ failure: Failure) {
    if result.waiting[machine.claimed.batch] == nil { result.waiting[machine.claimed.batch] = failure }
    engine.observer.notice(.waiting(path: machine.claimed.path, failure))
  }

  /// Only files for these hosts are left, which accept no connections.
  func unreachable(_ hosts: Set<String>) { result.unreachable = hosts.sorted() }

  /// The result of the run.
  func end(_ cause: StopCause?) -> RunResult {
    result.stoppedBy = cause
    result.wallMs = engine.bootMs - startedMs
    return result
  }

  // MARK: - Progress

  /// The first count, before anything is claimed.
  func countAtStart() throws(TransferError) { try progress.countAtStart(engine.ledger) }

  /// The ledger has counted what is left.
  func counted(_ size: Result<WorkSize, TransferError>) { progress.counted(size, nowMs: engine.bootMs) }

  /// An action of this run on its files requires a new count.
  func needsCount() { progress.needsCount() }

  /// When the next report is due, by the boot clock; nil without an observer.
  var reportDueMs: Int64? { progress.dueMs }

  /// Whether a report is due now; if so, the next one is scheduled.
  func takesReport(force: Bool) -> Bool { progress.takesReport(nowMs: engine.bootMs, force: force) }

  /// Whether a new count is needed because others changed the remaining files. The count includes everything that this
  /// run knows now.
  func takesCount() -> Bool {
    let nowMs = engine.bootMs
    guard progress.takesLook(nowMs: nowMs), let mark = try? engine.ledger.read({ reader in try reader.changeMark() })
    else { return false }
    return progress.takesCount(mark, nowMs: nowMs)
  }

  func snapshot(
    _ views: [ProgressTracker.View], counters: [PendingRequest.ID: Int64], sending: Int, waiting: Int, rateLimit: Int64?
  ) -> ProgressSnapshot {
    let input = RunProgress.Input(
      result: result, views: views, counters: counters, sending: sending, waiting: waiting, rateLimit: rateLimit,
      elapsedMs: engine.bootMs - startedMs)
    return progress.snapshot(input, bootMs: engine.bootMs, wallMs: engine.wallMs)
  }
}

extension FileProgress {
  fileprivate init(_ machine: FileMachine, _ phase: Phase, bytesAcked: Int64) {
    self.init(
      id: machine.claimed.id, path: machine.claimed.path, bytesTotal: machine.facts.layout.size,
      bytesAcked: bytesAcked, phase: phase)
  }
}
