import TransferModel

/// Polls a store for a Swift task, which sleeps in between.
struct StoreWatch: Sendable {
  let owner: StoreOwner
  let pool: BlockingPool
  let clock: any TransferClock

  /// Calls `look` on a consistent state whenever something may have changed, until it returns a value. nil when `pace`
  /// has timed out or the task was cancelled.
  func until<Value: Sendable>(
    _ pace: inout WatchPace, _ look: @escaping @Sendable (StoreReader) throws -> Value?
  ) async throws(TransferError) -> Value? {
    while !Task.isCancelled {
      if let value = try await once(&pace, look) { return value }
      guard let restMs = pace.rest() else { return nil }
      try? await Task.sleep(for: .milliseconds(restMs))
    }
    return nil
  }

  /// The same without waiting.
  func once<Value: Sendable>(
    _ pace: inout WatchPace, _ look: @escaping @Sendable (StoreReader) throws -> Value?
  ) async throws(TransferError) -> Value? {
    let known = pace
    let (value, next) = try await pool.run { [owner] () throws(TransferError) in
      var pace = known
      let mark = try owner.store.changeMark()
      guard pace.isDue(mark) else { return (Value?.none, pace) }
      let value = try owner.store.read(look)
      pace.looked(mark)
      return (value, pace)
    }
    pace = next
    return value
  }
}
