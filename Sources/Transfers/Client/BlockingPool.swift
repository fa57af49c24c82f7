import TransferModel

/// Threads for what blocks: SQLite, the scan of a folder, an engine. Swift tasks wait for them without holding a thread
/// of their own pool. A thread that has nothing to do is used again; there are as many as calls at a time.
final class BlockingPool: Sendable {
  private typealias Job = @Sendable () -> Void

  private struct State {
    var idle: [Mailbox<Job>] = []
    var isClosed = false
  }

  private final class Threads: Sendable {
    let state = Lock(State())

    /// False when the thread is to end.
    func isIdle(_ box: Mailbox<Job>) -> Bool {
      state.withLock { state in
        guard !state.isClosed else { return false }
        state.idle.append(box)
        return true
      }
    }
  }

  private let threads = Threads()

  /// What runs is brought to its end.
  deinit {
    let idle = threads.state.withLock { state in
      state.isClosed = true
      return state.idle
    }
    for box in idle { box.close() }
  }

  /// Runs `body` on one of the threads. It is not interrupted when the task is cancelled.
  func run<Value: Sendable>(
    _ body: @escaping @Sendable () throws(TransferError) -> Value
  ) async throws(TransferError) -> Value {
    let box = threads.state.withLock { $0.idle.popLast() } ?? begin()
    let result = await withCheckedContinuation { (waiting: CheckedContinuation<Result<Value, TransferError>, Never>) in
      box.put { waiting.resume(returning: Result { () throws(TransferError) in try body() }) }
    }
    return try result.get()
  }

  private func begin() -> Mailbox<Job> {
    let box = Mailbox<Job>()
    let thread = WorkerThread { [threads] in
      while let jobs = box.take() {
        for job in jobs { job() }
        guard threads.isIdle(box) else { return }
      }
    }
    thread.detach()
    return box
  }
}
