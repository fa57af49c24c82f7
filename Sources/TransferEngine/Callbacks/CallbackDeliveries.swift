import TransferLedger
import TransferModel

/// Performs one delivery. Blocking; called by several threads concurrently.
package protocol CallbackCarrier: Sendable {
  /// - Parameter isOver: polled several times a second; true when the result is no longer needed.
  func deliver(_ callback: DueCallback, isOver: @escaping @Sendable () -> Bool) -> DeliveryEnd
}

/// Delivers callbacks, alone or while an engine runs, on its own threads, so that no file waits for a delivery. Each
/// delivery is recorded before it begins and after it ends. Only one process delivers at a time (``DeliveryTurn``).
public final class CallbackDeliveries: Sendable {
  private enum Message: Sendable {
    case ended(DueCallback, DeliveryEnd)
    case finish(withinMs: Int64, graceMs: Int64)
  }

  /// Concurrent deliveries, in total and to one receiver.
  static let atOnce = 4
  static let atOnceToOne = 2
  /// Interval between checks for due callbacks, in milliseconds.
  static let lookMs: Int64 = 500

  private let ledger: Ledger
  private let carrier: any CallbackCarrier
  private let clock: any TransferClock
  private let messages = Mailbox<Message>()
  private let isOver = Lock(false)
  private let thread = Lock<WorkerThread?>(nil)

  package init(_ ledger: Ledger, by carrier: any CallbackCarrier, clock: any TransferClock) {
    (self.ledger, self.carrier, self.clock) = (ledger, carrier, clock)
  }

  /// Starts the delivery thread. Throws `.config` if there is none.
  public func start() throws(TransferError) {
    let started = try WorkerThread(to: "deliver callbacks") { [self] in work() }
    thread.withLock { $0 = started }
  }

  /// Begins due deliveries for at most `withinMs`, and waits for those it has begun. A delivery that is still running
  /// after `graceMs` is interrupted and is due again in the next run. The grace must therefore not be shorter than a
  /// delivery may take: otherwise every run would begin a slow delivery and none would finish it. Blocking.
  public func finish(withinMs: Int64, graceMs: Int64) {
    messages.put(.finish(withinMs: withinMs, graceMs: graceMs))
    let thread = thread.withLock { held in
      defer { held = nil }
      return held
    }
    thread?.join()
  }

  /// State of the delivery thread.
  private struct State {
    var turn: DeliveryTurn?
    var running: [Int64: Int] = [:]
    /// Consecutive failures of each receiver, and until when it is paused, by the boot clock.
    var failing: [Int64: (count: Int, untilMs: Int64)] = [:]
    var endMs: Int64?
    var graceMs: Int64 = 0
    /// The ledger cannot be written at the moment.
    var isStuck = false
    /// The end of a delivery was not recorded: taking the delivery turn again recovers its row.
    var mustRecover = false

    var count: Int { running.values.reduce(0, +) }
    func resting(_ nowMs: Int64) -> [Int64] {
      running.filter { $0.value >= CallbackDeliveries.atOnceToOne }.map(\.key)
        + failing.filter { $0.value.untilMs > nowMs }.map(\.key)
    }
  }

  private func work() {
    var state = State()
    while true {
      if state.mustRecover, state.count == 0 { (state.turn, state.mustRecover) = (nil, false) }
      if state.turn == nil { state.turn = (try? ledger.deliveryTurn()) ?? nil }
      let hasMore = begin(&state)
      if state.endMs != nil, state.count == 0, !hasMore { return }
      if let endMs = state.endMs, clock.bootMs >= endMs +| state.graceMs { isOver.withLock { $0 = true } }
      for message in messages.take(timeoutMs: clock.machineMs(wait(state))) ?? [] { take(message, &state) }
    }
  }

  private func wait(_ state: State) -> Int64 {
    guard let leftMs = state.endMs.map({ $0 - clock.bootMs }), leftMs > 0 else { return Self.lookMs }
    return min(Self.lookMs, leftMs)
  }

  private func take(_ message: Message, _ state: inout State) {
    switch message {
    case .finish(let withinMs, let graceMs): (state.endMs, state.graceMs) = (clock.bootMs +| withinMs, graceMs)
    case .ended(let callback, let end):
      state.running[callback.receiver, default: 1] -= 1
      note(callback.receiver, end, &state)
      var generator = SystemRandomNumberGenerator()
      let waitMs = LedgerTransaction.deliveryWaitMs(
        failures: callback.failures + 1, retryAfterMs: end.retryAfterMs, using: &generator)
      // If the write fails, the delivery is not reported as delivered: the next turn repeats it.
      state.isStuck = (try? ledger.write { tx in try tx.endDelivery(of: callback.id, end, waitMs: waitMs) }) == nil
      state.mustRecover = state.mustRecover || state.isStuck
    }
  }

  /// Pauses an unreachable receiver, so that it is not contacted for each of a thousand callbacks.
  private func note(_ receiver: Int64, _ end: DeliveryEnd, _ state: inout State) {
    guard end.outcome == .failed else {
      if end.outcome == .ok { state.failing[receiver] = nil }
      return
    }
    let count = (state.failing[receiver]?.count ?? 0) + 1
    let restMs: Int64 = count < 3 ? 0 : min(300_000, 1_000 << Int64(min(count, 20)))
    state.failing[receiver] = (count, clock.bootMs + restMs)
  }

  /// True if a due delivery was begun.
  private func begin(_ state: inout State) -> Bool {
    let isEnding = state.endMs.map { clock.bootMs >= $0 } ?? false
    guard state.turn != nil, !state.isStuck, !state.mustRecover, !isEnding else {
      state.isStuck = false
      return false
    }
    var hasBegun = false
    while state.count < Self.atOnce {
      let (resting, nowMs) = (state.resting(clock.bootMs), clock.wallMs)
      guard (try? ledger.read { try $0.hasDueCallback(nowMs: nowMs, resting: resting) }) == true,
        let begun = try? ledger.write({ tx in try tx.beginDeliveries(limit: 1, resting: resting) }),
        let callback = begun.first
      else { break }
      hasBegun = true
      state.running[callback.receiver, default: 0] += 1
      do throws(TransferError) {
        try WorkerThread(to: "deliver a callback") { [self] in
          messages.put(.ended(callback, carrier.deliver(callback) { [self] in isOver.withLock { $0 } }))
        }.detach()
      } catch {
        messages.put(.ended(callback, DeliveryEnd(.failed, message: "\(error)")))
      }
    }
    return hasBegun
  }
}
