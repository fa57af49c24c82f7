import TransferLedger
import TransferModel

/// Performs one delivery. Blocking; called by several threads concurrently.
package protocol CallbackCarrier: Sendable {
  /// - Parameter isOver: polled several times a second; true when the result is no longer needed.
  func deliver(_ callback: DueCallback, isOver: @escaping @Sendable () -> Bool) -> DeliveryEnd
}

/// How long deliveries go on after the run that they belong to, in milliseconds from its end.
package struct CallbackDeadline: Sendable, Hashable {
  /// The longest time that one delivery may take.
  package static let limitMs: Int64 = 30_000
  /// Within this time after its limit a delivery has ended: its program was killed, and waited for.
  static let marginMs: Int64 = 3_000
  /// After the end of a run: with the limit of the last delivery and the margin 40 s.
  package static let ofRun = CallbackDeadline(beginMs: 7_000)
  /// After a run that somebody stops: time for receivers that answer at once.
  static let ofStop = CallbackDeadline(beginMs: 1_000, interruptMs: 2_000)

  /// Until then due deliveries are begun.
  package let beginMs: Int64
  /// Deliveries that run then are interrupted, and are due again in the next run. Later than one that was begun last
  /// may take: otherwise every run would begin a slow delivery and none would finish it.
  package let interruptMs: Int64
  /// Then they are abandoned: one that cannot be interrupted (its program is killed and does not end, a file system
  /// does not answer) does not keep the process from ending.
  package var abandonMs: Int64 { interruptMs +| (Self.marginMs - Self.slackMs) }

  private static let slackMs: Int64 = 500

  package init(beginMs: Int64, interruptMs: Int64? = nil) {
    (self.beginMs, self.interruptMs) = (beginMs, interruptMs ?? beginMs +| Self.limitMs +| Self.slackMs)
  }
}

/// Delivers callbacks, alone or while an engine runs, on its own threads, so that no file waits for a delivery. Each
/// delivery is recorded before it begins and after it ends. Only one process delivers at a time (``DeliveryTurn``).
public final class CallbackDeliveries: Sendable {
  private enum Message: Sendable {
    case ended(DueCallback, DeliveryEnd)
    case finish(CallbackDeadline, isStopped: @Sendable () -> Bool)
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

  /// Begins due deliveries, and waits for those it has begun, until the deadline. Blocking.
  /// - Parameter isStopped: polled; true once the run is to stop: slow deliveries are then interrupted.
  package func finish(_ deadline: CallbackDeadline, isStopped: @escaping @Sendable () -> Bool = { false }) {
    messages.put(.finish(deadline, isStopped: isStopped))
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
    var ending: Ending?
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

  /// The end of the run, in milliseconds of the boot clock.
  private struct Ending {
    let startMs: Int64
    var deadline: CallbackDeadline
    let isStopped: @Sendable () -> Bool

    var beginMs: Int64 { startMs +| deadline.beginMs }
    var interruptMs: Int64 { startMs +| deadline.interruptMs }
    var abandonMs: Int64 { startMs +| deadline.abandonMs }

    mutating func look(_ nowMs: Int64) {
      guard isStopped() else { return }
      let stop = CallbackDeadline.ofStop
      // From now on.
      let pastMs = nowMs - startMs
      deadline = CallbackDeadline(
        beginMs: min(deadline.beginMs, pastMs +| stop.beginMs),
        interruptMs: min(deadline.interruptMs, pastMs +| stop.interruptMs))
    }
  }

  private func work() {
    var state = State()
    while true {
      if state.mustRecover, state.count == 0 { (state.turn, state.mustRecover) = (nil, false) }
      if state.turn == nil { state.turn = (try? ledger.deliveryTurn()) ?? nil }
      let hasMore = begin(&state)
      state.ending?.look(clock.bootMs)
      if let ending = state.ending {
        if state.count == 0, !hasMore { return }
        if clock.bootMs >= ending.interruptMs { isOver.withLock { $0 = true } }
        if clock.bootMs >= ending.abandonMs { return }
      }
      for message in messages.take(timeoutMs: clock.machineMs(wait(state))) ?? [] { take(message, &state) }
    }
  }

  private func wait(_ state: State) -> Int64 {
    guard let ending = state.ending else { return Self.lookMs }
    let timesMs = [ending.beginMs, ending.interruptMs, ending.abandonMs].map { $0 - clock.bootMs }
    return timesMs.filter { $0 > 0 }.reduce(Self.lookMs, min)
  }

  private func take(_ message: Message, _ state: inout State) {
    switch message {
    case .finish(let deadline, let isStopped):
      state.ending = Ending(startMs: clock.bootMs, deadline: deadline, isStopped: isStopped)
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
    let isEnding = state.ending.map { clock.bootMs >= $0.beginMs } ?? false
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
