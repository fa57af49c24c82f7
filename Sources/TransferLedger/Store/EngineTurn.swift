import Glibc
public import TransferModel

/// A place in the queue of those who want to be the one engine of a ledger. The kernel keeps the queue: a thread of its
/// own waits for the lock, nobody asks again and again, and whoever waits longest is next. When its turn comes the lock
/// is held from then on, for ``Ledger/startRun(_:turn:)``; it ends with the process.
public final class EngineTurn: Sendable {
  private enum State: Sendable {
    case waiting
    case held(SidecarLock)
    /// Taken over, or not to be had.
    case over
  }
  private let state = TransferModel.Lock(State.waiting)

  /// Begins to wait for the lock of the ledger at `path`, which exists.
  public init(at path: String) throws(TransferError) {
    let file = try StoreFile(at: path, makesFolder: false)
    let lock = try SidecarLock(path: file.path + ".lock")
    _ = WorkerThread { [state] in
      let isHeld = lock.waitAlone()
      state.withLock { $0 = isHeld ? .held(lock) : .over }
    }
  }

  /// Whether it is not worth waiting any longer: the lock is held, or cannot be had like this.
  public var hasCome: Bool {
    state.withLock { state in
      if case .waiting = state { false } else { true }
    }
  }

  /// The held lock, once.
  func take() -> SidecarLock? {
    state.withLock { state in
      guard case .held(let lock) = state else { return nil }
      state = .over
      return lock
    }
  }
}
