import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Turns SIGINT, SIGTERM and SIGHUP into calls on an ordinary thread. Made before any other thread is started, because
/// threads inherit the mask. A signal that was ignored when the process began (`nohup`, `&`) stays ignored.
///
/// While nothing is being transferred the first signal ends the process as if it were not caught: what is recorded is
/// durable, and nothing else needs a farewell.
final class SignalWatch: Sendable {
  typealias Handler = @Sendable (_ signal: Int32, _ count: Int) -> Void
  private struct State {
    var handler: Handler?
    var count = 0
    var last: Int32?
  }

  private let state = Lock(State())

  init() {
    let signals = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
    guard !signals.isEmpty else { return }
    var mask = Self.set(signals)
    pthread_sigmask(SIG_BLOCK, &mask, nil)
    _ = WorkerThread { [self] in wait(for: signals) }
  }

  /// From now on signals are counted and handed to `handler` instead of ending the process.
  func handle(_ handler: @escaping Handler) { state.withLock { $0.handler = handler } }

  /// The signal that came last, and how many came.
  var received: (signal: Int32?, count: Int) { state.withLock { ($0.last, $0.count) } }

  private func wait(for signals: [Int32]) {
    while true {
      var mask = Self.set(signals)
      var signal: Int32 = 0
      guard sigwait(&mask, &signal) == 0 else { continue }
      let (handler, count) = state.withLock { state in
        state.count += 1
        state.last = signal
        return (state.handler, state.count)
      }
      guard let handler else { Self.die(of: signal) }
      handler(signal, count)
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
