import TransferModel

/// A few threads for what blocks or burns: opening, checking and digesting sources, reading credentials and long answers.
///
/// The preparing threads take requests in order. One more helps with those that are short while all the others are at long reads
/// (``Preparation/isLong(_:)``), so that no file waits for another to be read; and answers have a thread of their own.
final class PreparingPool: Sendable {
  private let orders: PreparingQueue
  private let answers = Mailbox<PreparingQueue.Task>()
  private let threads: [WorkerThread]

  init(threadCount: Int) {
    let count = max(1, threadCount)
    let (orders, answers) = (PreparingQueue(threads: count), answers)
    self.orders = orders
    threads =
      (0...count).map { index in WorkerThread { orders.work(onlyShort: index == count) } } + [
        WorkerThread {
          while let tasks = answers.take() { for task in tasks { task() } }
        }
      ]
  }

  /// Runs `order`; `then` is called on a thread of the pool.
  func perform(_ order: PreparationOrder, then: @escaping @Sendable (Result<Prepared, PreparationFailure>) -> Void) {
    orders.put { [orders] in
      var opened = order
      guard Preparation.isLong(&opened) else { return then(Preparation.perform(opened)) }
      // It is opened again then: by that time its name may lead to another file.
      orders.putLong { then(Preparation.perform(order)) }
    }
  }

  /// Runs `work`, which reads an answer; `then` is called on a thread of the pool.
  func read<T>(_ work: @escaping @Sendable () -> T, then: @escaping @Sendable (T) -> Void) {
    answers.put { then(work()) }
  }

  /// Finishes what was ordered and ends the threads.
  func stop() {
    orders.close()
    answers.close()
    for thread in threads { thread.join() }
  }
}
