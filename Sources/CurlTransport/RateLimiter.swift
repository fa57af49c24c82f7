internal import CSys
internal import TransferModel

/// The one ``TokenBucket`` of a transport, used by the threads of all pools.
final class RateLimiter: Sendable {
  /// A permission to send, bound to the rate under which it was given.
  struct Grant {
    var bytes: Int
    var readyNs: Int64
    let generation: Int
  }

  private struct State {
    var bucket: TokenBucket?
    /// Grows with each change of the rate; grants of an older one are void.
    var generation = 0
  }

  private let state = Lock(State())

  var generation: Int { state.withLock { $0.generation } }

  /// nil for no limit.
  func setRate(bytesPerSecond: Int64?) {
    state.withLock {
      $0.bucket = bytesPerSecond.map { TokenBucket(bytesPerSecond: $0, nowNs: csys_boottime_ns()) }
      $0.generation += 1
    }
  }

  /// Books up to `bytes`; nil when there is no limit.
  func reserve(_ bytes: Int, nowNs: Int64) -> Grant? {
    state.withLock {
      guard let reservation = $0.bucket?.reserve(bytes, nowNs: nowNs) else { return nil }
      return Grant(bytes: reservation.bytes, readyNs: reservation.readyNs, generation: $0.generation)
    }
  }

  /// Returns what is left of a grant.
  func giveBack(_ grant: Grant) {
    guard grant.bytes > 0 else { return }
    state.withLock {
      guard $0.generation == grant.generation else { return }
      $0.bucket?.giveBack(grant.bytes)
    }
  }
}
