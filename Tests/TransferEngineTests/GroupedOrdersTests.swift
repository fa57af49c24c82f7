import Testing
import TransferModel

@testable import TransferEngine

/// Orders that arrive while the threads are busy are performed together.
@Suite struct GroupedOrdersTests {
  private let groups = Mailbox<[Int]>()

  private func grouped(_ pool: PreparingPool) -> GroupedOrders<Int> {
    GroupedOrders(pool, most: 3) { [groups] in groups.put($0) }
  }

  /// Occupies the only thread of a pool until something is put into the mailbox.
  private func keepBusy(_ pool: PreparingPool) -> Mailbox<Void> {
    let (began, gate) = (Mailbox<Void>(), Mailbox<Void>())
    pool.wait(
      {
        began.put(())
        _ = gate.take()
      }, then: {})
    _ = began.take()
    return gate
  }

  @Test func whatComesWhileThePoolIsBusyIsOneGroupUpToItsLimit() throws {
    let pool = try PreparingPool(threadCount: 1)
    let orders = grouped(pool)
    let gate = keepBusy(pool)
    for order in 1...7 { orders.add(order) }
    gate.put(())
    pool.stop()
    groups.close()
    #expect(groups.take() == [[1, 2, 3], [4, 5, 6], [7]])
  }

  @Test func oneThatComesToAnIdlePoolWaitsForNoOther() throws {
    let pool = try PreparingPool(threadCount: 1)
    let orders = grouped(pool)
    for order in 1...4 {
      orders.add(order)
      #expect(groups.take() == [[order]])
    }
    pool.stop()
  }

  /// A group may take the orders of a later one; each order is performed once.
  @Test func noOrderIsLeft() throws {
    let pool = try PreparingPool(threadCount: 3)
    let orders = grouped(pool)
    let adders = (0..<4).map { part in
      WorkerThread { for order in 0..<500 { orders.add(part * 500 + order) } }
    }
    for adder in adders { adder.join() }
    pool.stop()
    groups.close()
    let done = (groups.take() ?? []).flatMap(\.self)
    #expect(done.count == 2_000)
    #expect(Set(done) == Set(0..<2_000))
  }
}
