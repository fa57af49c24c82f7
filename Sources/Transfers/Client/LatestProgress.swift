import TransferModel

/// The newest progress of the engine that runs in this client, for any number of readers. A slow reader misses some
/// snapshots, and nothing accumulates.
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

  /// Discards the snapshot after the run has ended, because it is no longer current.
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
