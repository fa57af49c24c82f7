/// Requests a running engine to stop; from any thread, any number of times.
public final class StopSignal: Sendable {
  /// The requested kind of stop; a later request can only strengthen it.
  package enum Level: Int, Sendable { case drain, now }
  private struct State {
    var level: Level?
    var wake: (@Sendable (Level) -> Void)?
  }
  private let state = Lock(State())

  public init() {}

  /// Finishes running requests, begins no new ones.
  public func drain() { ask(.drain) }
  /// Interrupts running requests; nothing is lost.
  public func stopNow() { ask(.now) }

  private func ask(_ level: Level) {
    let wake = state.withLock { state in
      if (state.level?.rawValue ?? -1) < level.rawValue { state.level = level }
      return state.wake
    }
    wake?(level)
  }

  /// Whether a stop was requested.
  public var isAsked: Bool { state.withLock { $0.level != nil } }

  /// Whether an engine handles the signal; before that only the process itself can be stopped.
  public var isHeard: Bool { state.withLock { $0.wake != nil } }

  /// Calls `wake` at each request from now on, and at once if there was one already.
  package func onRequest(_ wake: @escaping @Sendable (Level) -> Void) {
    let earlier = state.withLock { state in
      state.wake = wake
      return state.level
    }
    if let earlier { wake(earlier) }
  }
}
