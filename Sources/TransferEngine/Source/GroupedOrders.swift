import TransferModel

/// Groups orders for a ``PreparingPool`` that cost less together than individually, for example because they wait for a
/// disk. Orders that arrive while all threads of the pool are busy form a group; an order for an idle pool does not
/// wait for others.
final class GroupedOrders<Order: Sendable>: Sendable {
  private let pool: PreparingPool
  private let most: Int
  private let perform: @Sendable ([Order]) -> Void
  /// The pool has one task for each `most` of them, and one for the rest.
  private let waiting = Lock<[Order]>([])

  /// - Parameters:
  ///   - most: maximum number of orders in a group.
  ///   - perform: called with each group, on a thread of the pool.
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
