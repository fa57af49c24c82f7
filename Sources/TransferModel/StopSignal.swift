/// Tells a running engine to stop; from any thread, any number of times.
public final class StopSignal: Sendable {
  /// What was asked; a later wish may only be the stronger one.
  public enum Wish: Int, Sendable { case drain, now }
  private struct State {
    var wish: Wish?
    var wake: (@Sendable (Wish) -> Void)?
  }
  private let state = Lock(State())

  public init() {}

  /// Finishes what runs, begins nothing new.
  public func drain() { ask(.drain) }
  /// Ends what runs; nothing is lost.
  public func stopNow() { ask(.now) }

  private func ask(_ wish: Wish) {
    let wake = state.withLock { state in
      if (state.wish?.rawValue ?? -1) < wish.rawValue { state.wish = wish }
      return state.wake
    }
    wake?(wish)
  }

  /// Whether anything was asked so far.
  public var isAsked: Bool { state.withLock { $0.wish != nil } }

  /// Whether an engine follows; before that there is nothing to stop but the process.
  public var isHeard: Bool { state.withLock { $0.wake != nil } }

  /// Calls `wake` at each wish from now on, and at once when there was one already.
  public func onWish(_ wake: @escaping @Sendable (Wish) -> Void) {
    let earlier = state.withLock { state in
      state.wake = wake
      return state.wish
    }
    if let earlier { wake(earlier) }
  }
}
