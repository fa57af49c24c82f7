import TransferEngine
import TransferLedger
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// An engine that runs in a thread of its own, and a user with another connection to its ledger.
final class RunningEngine {
  let ledger: Ledger
  private let finished = Mailbox<Result<RunResult, TransferError>>()
  private let snapshots = Mailbox<ProgressSnapshot>()
  private let thread: WorkerThread

  /// `prepare` is called before the engine starts.
  init(
    _ scene: Scene, workers: Int? = nil, stop: Scene.Stop = Scene.Stop(), prepare: (Ledger) throws -> Void = { _ in }
  ) throws {
    ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: SystemClock())
    try prepare(ledger)
    thread = WorkerThread { [path = scene.storePath, finished, snapshots] in
      do throws(TransferError) {
        finished.put(.success(try Scene.run(path, workers: workers, stop: stop) { snapshots.put($0) }))
      } catch {
        finished.put(.failure(error))
      }
      snapshots.close()
    }
  }

  /// Returns when the engine has reported a state for which `holds` is true.
  @discardableResult
  func wait(until holds: (ProgressSnapshot) -> Bool) throws -> ProgressSnapshot {
    while let told = snapshots.take() {
      if let found = told.first(where: holds) { return found }
    }
    throw Scene.Broken(what: "the engine ended first")
  }

  /// Waits for the end of the run and returns its result.
  func end() throws -> RunResult {
    guard let result = finished.take(timeoutMs: Scene.patienceMs)?.first else { throw Scene.Broken(what: "no end") }
    thread.join()
    return try result.get()
  }

  func control(_ verb: ControlVerb, _ filter: RowFilter = RowFilter()) throws -> ControlOutcome {
    try ledger.write { try $0.control(verb, filter) }
  }

  /// State and cause of every file, by number.
  func states() throws -> [String] {
    try ledger.read { try $0.files(RowFilter(), after: 0, limit: 100) }.map { row in
      row.cause.map { "\(row.state) \($0)" } ?? row.state
    }
  }

  func attempts() throws -> [String] {
    try ledger.read { try $0.attempts(RowFilter(), after: 0, limit: 100) }.map(\.outcome)
  }
}

extension Ledger {
  /// Returns when `holds` is true for the rows that an engine writes; throws if it does not become true in time.
  func wait(until holds: (LedgerReader) throws -> Bool) throws {
    let endMs = SystemClock().bootMs + Scene.patienceMs
    while try !read(holds) {
      guard SystemClock().bootMs < endMs else { throw Scene.Broken(what: "it is not recorded") }
      sched_yield()
    }
  }
}
