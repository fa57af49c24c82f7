import TransferModel

/// The newest figures of the engine that runs in this client, for any number of readers: a slow one misses some, and
/// nothing piles up.
final class LatestProgress: Sendable {
  private struct State {
    var latest: ProgressSnapshot?
    var readers: [Int: AsyncStream<ProgressSnapshot>.Continuation] = [:]
    var next = 0
  }

  private let state = Lock(State())

  func tell(_ snapshot: ProgressSnapshot) {
    let readers = state.withLock { state in
      state.latest = snapshot
      return state.readers.values.map(\.self)
    }
    for reader in readers { reader.yield(snapshot) }
  }

  /// The run is over: its figures are no longer those of now.
  func forget() { state.withLock { $0.latest = nil } }

  func stream() -> AsyncStream<ProgressSnapshot> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: ProgressSnapshot.self, bufferingPolicy: .bufferingNewest(1))
    let (number, latest) = state.withLock { state in
      state.next += 1
      state.readers[state.next] = continuation
      return (state.next, state.latest)
    }
    if let latest { continuation.yield(latest) }
    continuation.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.readers.removeValue(forKey: number) }
    }
    return stream
  }

  deinit { for reader in state.withLock({ $0.readers }).values { reader.finish() } }
}
