import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Turns signals into calls on an ordinary thread. Made before any other thread is started, because threads inherit the
/// mask. A signal that was ignored when the process began (`nohup`, `&`) stays ignored; but SIGTERM always works.
///
/// SIGINT, SIGTERM and SIGHUP request a stop (except that SIGHUP makes a daemon reload its configuration). While
/// nothing is being transferred, the first of them ends the process as if it were not caught, because everything
/// recorded is durable. The third does so at any time. The same signal within a tenth of a second counts once: `timeout
/// 3 transfers run` signals the process, and then its group, which includes the process. SIGUSR1 requests a progress
/// line, and SIGCONT means that the screen contents are unknown; neither ever ends anything.
final class SignalWatch: Sendable {
  /// Returns whether it handles the signal; an unhandled one ends the process.
  typealias Handler = @Sendable (_ signal: Int32, _ count: Int) -> Bool
  private struct State {
    var handler: Handler?
    var received = SignalCount()
    var remark: (@Sendable (_ signal: Int32) -> Void)?
    var reload: (@Sendable () -> Void)?
  }

  private let state = Lock(State())
  private let clock = SystemClock()
  private let beforeDeath: @Sendable () -> Void

  /// - Parameter beforeDeath: called when a signal is about to end the process, on the watching thread.
  init(beforeDeath: @escaping @Sendable () -> Void = {}) {
    self.beforeDeath = beforeDeath
    if Self.isIgnored(SIGTERM) { signal(SIGTERM, SIG_DFL) }
    let signals = [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCONT].filter { !Self.isIgnored($0) }
    var mask = Self.set(signals)
    pthread_sigmask(SIG_BLOCK, &mask, nil)
    if (try? WorkerThread(to: "wait for signals", { [self] in wait(for: signals) })) == nil {
      // Each of them then does what it does to a program that knows nothing of it; these two end nothing.
      signal(SIGUSR1, SIG_IGN)
      pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }
  }

  /// From now on signals are counted and passed to `handler` instead of ending the process.
  func handle(_ handler: @escaping Handler) { state.withLock { $0.handler = handler } }

  /// From now on SIGUSR1 and SIGCONT are handed to `remark`.
  func remark(_ remark: @escaping @Sendable (_ signal: Int32) -> Void) { state.withLock { $0.remark = remark } }

  /// From now on SIGHUP is passed to `reload`, and does not request a stop.
  func reload(_ reload: @escaping @Sendable () -> Void) { state.withLock { $0.reload = reload } }

  /// The last stop signal, and the number of stop signals.
  var received: (signal: Int32?, count: Int) { state.withLock { ($0.received.last, $0.received.count) } }

  private func wait(for signals: [Int32]) {
    while true {
      var mask = Self.set(signals)
      var signal: Int32 = 0
      guard sigwait(&mask, &signal) == 0 else { continue }
      if signal == SIGUSR1 || signal == SIGCONT {
        state.withLock { $0.remark }?(signal)
        continue
      }
      if signal == SIGHUP, let reload = state.withLock({ $0.reload }) {
        reload()
        continue
      }
      let nowMs = clock.bootMs
      let (handler, isNew, count) = state.withLock { state in
        (state.handler, state.received.add(signal, nowMs: nowMs), state.received.count)
      }
      guard isNew else { continue }
      guard let handler, count < 3, handler(signal, count) else {
        beforeDeath()
        Self.die(of: signal)
      }
    }
  }

  /// Ends the process by `number` with its default action, so that the parent sees what happened.
  static func die(of number: Int32) -> Never {
    signal(number, SIG_DFL)
    var mask = set([number])
    pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    raise(number)
    exit(128 + number)
  }

  private static func set(_ signals: [Int32]) -> sigset_t {
    var mask = sigset_t()
    sigemptyset(&mask)
    for number in signals { sigaddset(&mask, number) }
    return mask
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    #if canImport(Glibc)
      return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    #else
      return unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    #endif
  }
}

/// Counts stop requests.
struct SignalCount: Sendable {
  /// A repeated signal within this time counts as the same request.
  static let echoMs: Int64 = 100
  private(set) var count = 0
  private(set) var last: Int32?
  private var lastMs: Int64 = .min

  /// Whether the signal is a further request.
  mutating func add(_ signal: Int32, nowMs: Int64) -> Bool {
    if signal == last, nowMs - lastMs < Self.echoMs { return false }
    count += 1
    (last, lastMs) = (signal, nowMs)
    return true
  }
}
