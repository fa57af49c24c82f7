internal import CCurl
public import TransferModel

/// Performs requests with libcurl: one thread and one set of connections for each origin and credential, created with
/// the first such request and ended by ``stop()``.
///
/// Callable from any thread. Reply handlers run on the thread of their pool with no lock held; they must not block.
public final class CurlTransport: Transport {
  private struct PoolKey: Hashable {
    /// nil for requests whose URL is refused: they need a thread for the reply, but no connection.
    var origin: Origin?
    var credentialLabel: String
    /// Part of the key, because a connection made under another rule may lead to an address that this one forbids.
    var addresses: AddressRule
  }

  private struct State {
    var pools: [PoolKey: CurlPool] = [:]
    /// Pools that end after their last request.
    var retired: [CurlPool] = []
    var isStopped = false
    /// Threads that deliver replies of requests without a pool.
    var couriers: [WorkerThread] = []

    var all: [CurlPool] { Array(pools.values) + retired }
  }

  private let configuration: CurlConfiguration
  private let limiter: RateLimiter
  private let state = Lock(State())
  private static let globalInit = ccurl_global_init()

  /// Loads libcurl unless it is loaded; throws what ``CurlLibrary/load()`` throws. With `other`, both transports share
  /// their rate limits.
  public init(_ configuration: CurlConfiguration, sharingRateOf other: CurlTransport? = nil) throws(TransferError) {
    _ = try CurlLibrary.load()
    self.configuration = configuration
    limiter = other?.limiter ?? RateLimiter()
  }

  deinit { stop() }

  /// After ``stop()``, the reply (cancelled) is delivered immediately, on the caller's thread.
  package func start(
    _ id: ExchangeID, _ request: TransferRequest, onReply: @escaping @Sendable (TransferReply) -> Void
  ) {
    let (origin, refusal) = Self.examine(request)
    let order = Order(id: id, request: request, refusal: refusal, onReply: onReply)
    let key = PoolKey(
      origin: origin, credentialLabel: origin == nil ? "" : request.credentialLabel, addresses: request.addresses)
    switch state.withLock({ pool(for: key, in: &$0) }) {
    case .pool(let pool):
      if !pool.put(.start(order)) { onReply(.cancelledBeforeStart) }
    case .stopped:
      onReply(.cancelledBeforeStart)
    case .noMemory:
      let courier = WorkerThread { onReply(.refused(CURLE_FAILED_INIT)) }
      state.withLock { $0.couriers.append(courier) }
    }
  }

  package func cancel(_ id: ExchangeID) {
    // There are few pools, and cancelling is rare: sending it to all of them is cheaper than an index of every request.
    for pool in state.withLock(\.all) { _ = pool.put(.cancel(id)) }
  }

  public func dropConnections() {
    let dropped = state.withLock { state in
      defer { state.pools = [:] }
      state.retired += state.pools.values
      return Array(state.pools.values)
    }
    for pool in dropped { pool.retire() }
  }

  package func setRate(bytesPerSecond: Int64?, of group: RateGroup?) {
    limiter.setRate(bytesPerSecond: bytesPerSecond, of: group)
    for pool in state.withLock(\.all) { pool.wake() }
  }

  package func bytesInFlight() -> [ExchangeID: Int64] {
    var sum: [ExchangeID: Int64] = [:]
    for pool in state.withLock(\.all) {
      sum.merge(pool.bytesInFlight()) { _, new in new }
    }
    return sum
  }

  public func stop() {
    let (pools, couriers) = state.withLock { state in
      state.isStopped = true
      defer {
        (state.pools, state.retired) = ([:], [])
        state.couriers = []
      }
      return (state.all, state.couriers)
    }
    for pool in pools { pool.close() }
    for pool in pools { pool.join() }
    for courier in couriers { courier.join() }
  }

  private enum Place {
    case pool(CurlPool)
    case stopped
    case noMemory
  }

  private func pool(for key: PoolKey, in state: inout State) -> Place {
    if state.isStopped { return .stopped }
    if let pool = state.pools[key] { return .pool(pool) }
    for pool in state.retired where pool.hasEnded { pool.join() }
    state.retired.removeAll(where: \.hasEnded)
    guard Self.globalInit == CURLE_OK, let pool = CurlPool(configuration, limiter: limiter) else { return .noMemory }
    state.pools[key] = pool
    return .pool(pool)
  }

  private static func examine(_ request: TransferRequest) -> (Origin?, RequestRefusal?) {
    do throws(RequestRefusal) {
      let origin = try Origin(url: request.url)
      do throws(RequestRefusal) {
        try RequestRefusal.check(request)
      } catch {
        return (origin, error)
      }
      return (origin, nil)
    } catch {
      return (nil, error)
    }
  }
}
