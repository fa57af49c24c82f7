import TransferModel

/// A small thread pool for blocking and CPU-intensive work: opening, checking and digesting sources, reading
/// credentials and long answers.
///
/// The preparing threads process requests in order. While all of them do long reads (``Preparation/longRead(_:)``)
/// another thread does short ones, so that no file waits for another one to be read; if there is only one preparing
/// thread, another one also reads other long files. Answers have their own thread.
final class PreparingPool: Sendable {
  private let orders: PreparingQueue
  private let answers = Mailbox<PreparingQueue.Task>()
  private let threads: [WorkerThread]

  /// Throws `.config` if there are not that many threads.
  init(threadCount: Int) throws(TransferError) {
    let count = max(1, threadCount)
    let (orders, answers) = (PreparingQueue(threads: count, hasReserve: count == 1), answers)
    self.orders = orders
    let roles =
      Array(repeating: .always, count: count) + (count == 1 ? [.reserve, .short] : [PreparingQueue.Role.short])
    var started: [WorkerThread] = []
    do throws(TransferError) {
      for role in roles { started.append(try WorkerThread(to: "prepare requests") { orders.work(role) }) }
      started.append(
        try WorkerThread(to: "read answers") {
          while let tasks = answers.take() { for task in tasks { task() } }
        })
    } catch {
      Self.end(orders, answers, started)
      throw error
    }
    threads = started
  }

  /// Runs `order`; `then` is called on a thread of the pool.
  func perform(_ order: PreparationOrder, then: @escaping @Sendable (Result<Prepared, PreparationFailure>) -> Void) {
    orders.put { [orders] in
      var opened = order
      guard let read = Preparation.longRead(&opened) else { return then(Preparation.perform(opened)) }
      // The file is opened again then, because its name may lead to another file by that time.
      orders.put(read) { then(Preparation.perform(order)) }
    }
  }

  /// Runs `work`, which waits for a disk; `then` is called on a thread of the pool.
  func wait<T>(_ work: @escaping @Sendable () -> T, then: @escaping @Sendable (T) -> Void) {
    orders.put { then(work()) }
  }

  /// Runs `work`, which reads an answer; `then` is called on a thread of the pool.
  func read<T>(_ work: @escaping @Sendable () -> T, then: @escaping @Sendable (T) -> Void) {
    answers.put { then(work()) }
  }

  /// Finishes all orders and ends the threads.
  func stop() { Self.end(orders, answers, threads) }

  private static func end(
    _ orders: PreparingQueue, _ answers: Mailbox<PreparingQueue.Task>, _ threads: [WorkerThread]
  ) {
    orders.close()
    answers.close()
    for thread in threads { thread.join() }
  }
}
