internal import CCurl
internal import CSys
internal import TransferModel

/// The part of a ``CurlPool`` that runs on its own thread: everything here belongs to that thread.
final class PoolLoop {
  /// How many handles are kept for reuse; each has buffers of up to ``CurlConfiguration/bulkUploadBuffer``.
  private static let maxFreeHandles = 64

  private let pool: CurlPool
  private let multi: MultiHandle
  private let configuration: CurlConfiguration
  private let limiter: RateLimiter
  private var running: [ExchangeID: Exchange] = [:]
  private var waiting: [Order] = []
  private var freeHandles: [EasyHandle] = []
  private var generation: Int
  private var nextStallCheckNs = Int64.max
  private let ownTime = OwnTime()

  init(_ pool: CurlPool, _ multi: MultiHandle, _ configuration: CurlConfiguration, _ limiter: RateLimiter) {
    self.pool = pool
    self.multi = multi
    self.configuration = configuration
    self.limiter = limiter
    generation = limiter.generation
  }

  /// Returns after the pool was closed and every reply was delivered, or it has no request left and was retired, or has
  /// been idle for long enough.
  func run() {
    while true {
      let inbox = pool.takeCommands()
      for command in inbox.commands { execute(command) }
      if inbox.isClosed { break }
      startWaiting()
      var count: Int32 = 0
      let code = ccurl_multi_perform(multi.raw, &count)
      finishDone()
      if code != CURLM_OK { failAll(code) }
      endStalled()
      releaseHeld()
      // Requests that have just ended made room for others; a new handle ends the wait below immediately.
      startWaiting()
      var idleNs = Int64.max
      if running.isEmpty, waiting.isEmpty {
        guard let leftNs = pool.idleLeftNs(nowNs: csys_boottime_ns()) else { break }
        idleNs = leftNs
      }
      ccurl_multi_poll(multi.raw, waitMs(atMostNs: idleNs))
    }
    cancelAll()
  }

  private func execute(_ command: CurlPool.Command) {
    switch command {
    case .start(let order):
      pool.publish(order.counter, for: order.id)
      waiting.append(order)
    case .cancel(let id):
      if let exchange = running[id] {
        finish(exchange, .cancelled)
      } else if let index = waiting.firstIndex(where: { $0.id == id }) {
        deliver(.cancelledBeforeStart, to: waiting.remove(at: index))
      }
    }
  }

  private func startWaiting() {
    let room = max(1, configuration.maxConnections) - running.count
    guard room > 0, !waiting.isEmpty else { return }
    let orders = waiting.prefix(room)
    waiting.removeFirst(orders.count)
    for order in orders { start(order) }
  }

  private func start(_ order: Order) {
    if let refusal = order.refusal { return deliver(.refused(refusal.code, refusal.message), to: order) }
    guard running[order.id] == nil else {
      return deliver(.refused(Int32(CURLE_BAD_FUNCTION_ARGUMENT.rawValue), "the exchange is running"), to: order)
    }
    guard let easy = freeHandles.popLast() ?? EasyHandle(share: multi.share) else {
      return deliver(.refused(CURLE_OUT_OF_MEMORY), to: order)
    }
    let exchange = Exchange(order, easy: easy, limiter: limiter, ownTime: ownTime)
    let code = exchange.configure(configuration)
    guard code == CURLE_OK else { return deliver(.refused(code), to: order) }
    if let refused = exchange.guardAddresses() { return deliver(refused, to: order) }
    guard ccurl_multi_add_handle(multi.raw, easy.raw) == CURLM_OK else {
      return deliver(.refused(CURLE_FAILED_INIT), to: order)
    }
    running[order.id] = exchange
    scheduleStallCheck(exchange, csys_awake_ns())
  }

  private func finishDone() {
    var result = CURLE_OK
    while let raw = ccurl_next_done(multi.raw, &result) {
      if let exchange = ExchangeCallbacks.exchange(of: raw) { finish(exchange, .performed(result)) }
    }
  }

  /// Removes a request from libcurl and delivers its reply. The handle is released before the reply is delivered, so
  /// that a request started by the reply can reuse it and its connection.
  private func finish(_ exchange: Exchange, _ end: EndedExchange.End) {
    let reply = EndedExchange(exchange, end).reply
    exchange.settle()
    ccurl_multi_remove_handle(multi.raw, exchange.easy.raw)
    running[exchange.order.id] = nil
    exchange.easy.reset()
    if freeHandles.count < Self.maxFreeHandles { freeHandles.append(exchange.easy) }
    deliver(reply, to: exchange.order)
  }

  private func deliver(_ reply: TransferReply, to order: Order) {
    pool.publish(nil, for: order.id)
    order.onReply(reply)
  }

  private func failAll(_ code: CURLMcode) {
    for exchange in running.values {
      finish(exchange, .performed(code == CURLM_OUT_OF_MEMORY ? CURLE_OUT_OF_MEMORY : CURLE_FAILED_INIT))
    }
  }

  private func cancelAll() {
    for exchange in running.values { finish(exchange, .cancelled) }
    for order in waiting { deliver(.cancelledBeforeStart, to: order) }
    waiting = []
    freeHandles = []
  }
}

// MARK: - Time

extension PoolLoop {
  private func endStalled() {
    let now = csys_awake_ns()
    guard now >= nextStallCheckNs else { return }
    nextStallCheckNs = .max
    for exchange in running.values {
      if exchange.isStalled(nowNs: now) {
        finish(exchange, .stalled)
      } else {
        scheduleStallCheck(exchange, now)
      }
    }
  }

  /// Schedules eight checks within the limit, at least one a second and at most one every 10 ms.
  private func scheduleStallCheck(_ exchange: Exchange, _ nowNs: Int64) {
    let interval = min(max(exchange.stallMs / 8, 10), 1000) * 1_000_000
    nextStallCheckNs = min(nextStallCheckNs, nowNs + interval)
  }

  /// Lets requests continue when their time has come. After a change of the rate, all ask the limiter again, in order.
  private func releaseHeld() {
    let current = limiter.generation
    let isNewRate = current != generation
    generation = current
    if isNewRate {
      for exchange in running.values { exchange.dropGrant(unlessOf: current) }
    }
    let now = csys_awake_ns()
    let due = running.values.filter { $0.hold.untilNs.map { isNewRate || $0 <= now } ?? false }
    for exchange in due.sorted(by: { ($0.hold.untilNs ?? 0) < ($1.hold.untilNs ?? 0) }) {
      let code = exchange.release()
      if code != CURLE_OK { finish(exchange, .performed(code)) }
    }
  }

  /// The time until the next event that libcurl does not know about; libcurl shortens the wait for its own timers.
  private func waitMs(atMostNs idleNs: Int64) -> Int32 {
    let nextNs = running.values.lazy.compactMap(\.hold.untilNs).reduce(nextStallCheckNs, min)
    let waitNs = min(max(0, nextNs - csys_awake_ns()), idleNs)
    return Int32(min(waitNs / 1_000_000 + (waitNs % 1_000_000 == 0 ? 0 : 1), 60_000))
  }
}

extension TransferReply {
  static let cancelledBeforeStart: TransferReply = {
    var reply = TransferReply.refused(Int32(CURLE_ABORTED_BY_CALLBACK.rawValue), "cancelled before it was sent")
    reply.isCancelled = true
    return reply
  }()

  /// The reply to a request of which not a single byte was sent.
  static func refused(_ code: Int32, _ message: String) -> TransferReply {
    var reply = TransferReply()
    reply.curlCode = code
    reply.curlMessage = message
    return reply
  }

  static func refused(_ code: CURLcode) -> TransferReply {
    refused(Int32(code.rawValue), EasyHandle.generalMessage(for: code))
  }
}
