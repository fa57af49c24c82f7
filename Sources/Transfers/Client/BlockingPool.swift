import TransferModel

/// Threads for blocking work: SQLite, folder scans, an engine. Swift tasks wait for them without occupying a thread of
/// Swift's pool. Idle threads are reused; there are as many as concurrent calls.
final class BlockingPool: Sendable {
  private typealias Job = @Sendable () -> Void

  private struct State {
    var idle: [Mailbox<Job>] = []
    var isClosed = false
  }

  private final class Threads: Sendable {
    let state = Lock(State())

    /// False when the thread should end.
    func isIdle(_ box: Mailbox<Job>) -> Bool {
      state.withLock { state in
        guard !state.isClosed else { return false }
        state.idle.append(box)
        return true
      }
    }
  }

  private let threads = Threads()

  /// Running calls are completed.
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
    let idle = threads.state.withLock { $0.idle.popLast() }
    let box = if let idle { idle } else { try begin() }
    let result = await withCheckedContinuation { (waiting: CheckedContinuation<Result<Value, TransferError>, Never>) in
      box.put { waiting.resume(returning: Result { () throws(TransferError) in try body() }) }
    }
    return try result.get()
  }

  private func begin() throws(TransferError) -> Mailbox<Job> {
    let box = Mailbox<Job>()
    let thread = try WorkerThread(to: "work for the client") { [threads] in
      while let jobs = box.take() {
        for job in jobs { job() }
        guard threads.isIdle(box) else { return }
      }
    }
    thread.detach()
    return box
  }
}
