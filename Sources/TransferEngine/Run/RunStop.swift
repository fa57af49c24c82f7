import TransferLedger
import TransferModel

/// Whether and why the run ends: owner of the ``StopSequence``. Any part of the engine can end the run here. Used by
/// the engine's thread.
final class RunStop {
  private let engine: Engine
  private(set) var sequence: StopSequence
  /// Why the run ends before everything is done.
  private(set) var cause: StopCause?

  init(_ engine: Engine) {
    self.engine = engine
    sequence = StopSequence(drainMs: engine.configuration.drainMs)
  }

  var isStopping: Bool { sequence.isStopping }

  /// False if an equal or stronger stop was requested before.
  func ask(_ level: StopSignal.Level) -> Bool {
    guard sequence.ask(level, nowMs: engine.bootMs) else { return false }
    cause = level == .drain ? .drained : .interrupted
    if level == .now { engine.ledger.stopRetrying() }
    return true
  }

  /// The machine slept: requests that a drain waits for have as much time left as before.
  func slept(ms: Int64) { sequence.slept(ms: ms) }

  /// Ends the run with an error; the first one is kept.
  func fail(_ error: TransferError) {
    guard sequence.fail(error) else { return }
    if error.leavesLedgerUsable { _ = ask(.now) }
  }

  /// The ledger cannot be written at the moment. False if that is known already, or if the run ends with an error
  /// anyway.
  func note(diskTrouble error: TransferError) -> Bool { sequence.note(diskTrouble: error) }

  /// Ends the run with work left.
  func end(for cause: StopCause) { self.cause = cause }

  /// Whether it is time to check which bodies cannot end in time.
  func takesLook() -> Bool { sequence.takesLook(nowMs: engine.bootMs) }
}

extension TransferError {
  /// True if the error blocks only the batch with this destination. This includes program bugs that one batch reveals.
  var concernsOneBatch: Bool { leavesLedgerUsable || kind == .bug }

  /// The ledger is still usable, so rows can be released before the run ends.
  var leavesLedgerUsable: Bool {
    switch kind {
    case .auth, .config, .usage, .noSource, .badList, .interrupted: true
    default: false
    }
  }
}
