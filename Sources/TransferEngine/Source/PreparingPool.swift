import TransferModel

/// A few threads for what blocks or burns: opening, checking and digesting sources, reading credentials and long answers.
final class PreparingPool: Sendable {
  private typealias Task = @Sendable () -> Void
  private let boxes: [Mailbox<Task>]
  private let threads: [WorkerThread]
  private let next = Lock(0)

  init(threadCount: Int) {
    let boxes = (0..<max(1, threadCount)).map { _ in Mailbox<Task>() }
    self.boxes = boxes
    threads = boxes.map { box in
      WorkerThread {
        while let tasks = box.take() {
          for task in tasks { task() }
        }
      }
    }
  }

  /// Runs `order`; `then` is called on a thread of the pool.
  func perform(_ order: PreparationOrder, then: @escaping @Sendable (Result<Prepared, PreparationFailure>) -> Void) {
    perform({ Preparation.perform(order) }, then: then)
  }

  /// Runs `work`, which must not fail to end; `then` is called on a thread of the pool.
  func perform<T>(_ work: @escaping @Sendable () -> T, then: @escaping @Sendable (T) -> Void) {
    let index = next.withLock { next in
      next = (next + 1) % boxes.count
      return next
    }
    boxes[index].put { then(work()) }
  }

  /// Finishes what was ordered and ends the threads.
  func stop() {
    for box in boxes { box.close() }
    for thread in threads { thread.join() }
  }
}
