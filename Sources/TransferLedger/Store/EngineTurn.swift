import Glibc
public import TransferModel

/// A place in the queue of processes that wait to become the engine of a ledger. The kernel keeps the queue: a
/// dedicated thread waits for the lock without polling, and the longest waiter is next. Once acquired, the lock is held
/// for ``Ledger/startRun(_:turn:beginning:)``; it is released when the process ends.
public final class EngineTurn: Sendable {
  private enum State: Sendable {
    case waiting
    case held(SidecarLock)
    /// Taken over, or not available.
    case over
  }
  private let state = TransferModel.Lock(State.waiting)

  /// Begins to wait for the lock of the ledger at `path`, which must exist.
  public init(at path: String) throws(TransferError) {
    let file = try StoreFile(at: path, makesFolder: false)
    let lock = try SidecarLock(path: file.path + ".lock")
    _ = try WorkerThread(to: "wait for the turn of the engine") { [state] in
      let isHeld = lock.waitAlone()
      state.withLock { $0 = isHeld ? .held(lock) : .over }
    }
  }

  /// Whether the wait is over: the lock is held, or cannot be acquired this way.
  public var hasCome: Bool {
    state.withLock { state in
      if case .waiting = state { false } else { true }
    }
  }

  /// Returns the held lock, once.
  func take() -> SidecarLock? {
    state.withLock { state in
      guard case .held(let lock) = state else { return nil }
      state = .over
      return lock
    }
  }
}
