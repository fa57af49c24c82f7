import TransferModel

/// Orders for a ``PreparingPool`` that cost less together than one by one, as what waits for a disk does. Those that
/// come while all of its threads are busy make a group; one that comes to an idle pool waits for no others.
final class GroupedOrders<Order: Sendable>: Sendable {
  private let pool: PreparingPool
  private let most: Int
  private let perform: @Sendable ([Order]) -> Void
  /// For each `most` of them, and for the rest, the pool has a task.
  private let waiting = Lock<[Order]>([])

  /// - Parameters:
  ///   - most: how many a group has at most.
  ///   - perform: is called with each group, on a thread of the pool.
  init(_ pool: PreparingPool, most: Int, perform: @escaping @Sendable ([Order]) -> Void) {
    (self.pool, self.most, self.perform) = (pool, most, perform)
  }

  func add(_ order: Order) {
    let needsTask = waiting.withLock { orders in
      orders.append(order)
      return (orders.count - 1).isMultiple(of: most)
    }
    if needsTask { pool.wait({ self.performGroup() }, then: {}) }
  }

  private func performGroup() {
    let group = waiting.withLock { orders in
      defer { orders.removeFirst(min(most, orders.count)) }
      return Array(orders.prefix(most))
    }
    perform(group)
  }
}
