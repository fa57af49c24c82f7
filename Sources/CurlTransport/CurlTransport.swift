internal import CCurl
public import TransferModel

/// Performs requests with libcurl: one thread and one set of connections for each origin and credential, created with
/// the first such request, and ended when it was idle for some seconds, or by ``stop()`` (``PoolSet``).
///
/// Callable from any thread. Reply handlers run on the thread of their pool with no lock held; they must not block.
public final class CurlTransport: Transport {
  private let configuration: CurlConfiguration
  private let limiter: RateLimiter
  private let pools: Lock<PoolSet>
  private static let globalInit = ccurl_global_init()

  /// Loads libcurl unless it is loaded; throws what ``CurlLibrary/load()`` throws. With `other`, both transports share
  /// their rate limits.
  public init(_ configuration: CurlConfiguration, sharingRateOf other: CurlTransport? = nil) throws(TransferError) {
    _ = try CurlLibrary.load()
    self.configuration = configuration
    limiter = other?.limiter ?? RateLimiter()
    pools = Lock(PoolSet(most: configuration.maxPools ?? DescriptorLimit().connectionThreads))
  }

  deinit { stop() }

  /// After ``stop()``, the reply (cancelled) is delivered immediately, on the caller's thread; so is that to a request
  /// for which this machine has no thread or no descriptors.
  package func start(
    _ id: ExchangeID, _ request: TransferRequest, onReply: @escaping @Sendable (TransferReply) -> Void
  ) {
    let (origin, refusal) = Self.examine(request)
    var order = Order(id: id, request: request, refusal: refusal, onReply: onReply)
    let key = PoolKey(
      origin: origin, credentialLabel: origin == nil ? "" : request.credentialLabel, addresses: request.addresses)
    while true {
      let pool: CurlPool
      switch pools.withLock({ $0.place(key) { () throws(PoolShortage) in try newPool() } }) {
      case .own(let own): (pool, order.isGuest) = (own, false)
      case .shared(let shared): (pool, order.isGuest) = (shared, true)
      case .stopped: return onReply(.cancelledBeforeStart)
      case .none(let shortage): return onReply(shortage.reply)
      }
      if pool.put(.start(order)) { return }
      // It has just ended, because it was idle.
      pools.withLock { $0.leave(pool) }
    }
  }

  package func cancel(_ id: ExchangeID) {
    // There are few pools, and cancelling is rare: sending it to all of them is cheaper than an index of every request.
    for pool in pools.withLock(\.all) { _ = pool.put(.cancel(id)) }
  }

  public func dropConnections() {
    for pool in pools.withLock({ $0.leaveAll() }) { pool.retire() }
  }

  package func setRate(bytesPerSecond: Int64?, of group: RateGroup?) {
    limiter.setRate(bytesPerSecond: bytesPerSecond, of: group)
    for pool in pools.withLock(\.all) { pool.wake() }
  }

  package func bytesInFlight() -> [ExchangeID: Int64] {
    var sum: [ExchangeID: Int64] = [:]
    for pool in pools.withLock(\.all) {
      sum.merge(pool.bytesInFlight()) { _, new in new }
    }
    return sum
  }

  public func stop() {
    let stopped = pools.withLock { $0.stop() }
    for pool in stopped { pool.close() }
    for pool in stopped { pool.join() }
  }

  private func newPool() throws(PoolShortage) -> CurlPool {
    guard Self.globalInit == CURLE_OK else { throw .library }
    return try CurlPool(configuration, limiter: limiter) { [pools] ended in
      for earlier in pools.withLock({ $0.end(ended) }) { earlier.join() }
    }
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
