internal import CSys
internal import TransferModel

/// The rate limits of a transport, used by the threads of all pools: one for all bodies together, and one for each
/// group that has its own. If both apply to a body, it respects both.
final class RateLimiter: Sendable {
  /// Permission to send or receive bytes, tied to the rates under which it was granted.
  struct Grant {
    var bytes: Int
    var readyNs: Int64
    let generation: Int
    fileprivate let group: RateGroup?
    fileprivate let overallStamp: Int?
    fileprivate let groupStamp: Int?
  }

  private struct Limit {
    var bucket: TokenBucket
    /// The generation in which it was set: bytes booked in an older one are not returned to it.
    let stamp: Int
  }

  private struct State {
    var overall: Limit?
    var groups: [RateGroup: Limit] = [:]
    /// Incremented with each change of a rate; grants of an older generation are void.
    var generation = 0
  }

  private let state = Lock(State())

  var generation: Int { state.withLock { $0.generation } }

  /// Sets the rate of all bodies together, or of a group; nil for no limit.
  func setRate(bytesPerSecond: Int64?, of group: RateGroup?, nowNs: Int64 = csys_awake_ns()) {
    state.withLock { state in
      state.generation += 1
      let limit = bytesPerSecond.map {
        Limit(bucket: TokenBucket(bytesPerSecond: $0, nowNs: nowNs), stamp: state.generation)
      }
      if let group { state.groups[group] = limit } else { state.overall = limit }
    }
  }

  /// Reserves up to `bytes` bytes. Returns nil if no rate limit applies.
  func reserve(_ bytes: Int, of group: RateGroup?, nowNs: Int64) -> Grant? {
    state.withLock { state in
      let isGrouped = group.map { state.groups[$0] != nil } ?? false
      guard isGrouped || state.overall != nil else { return nil }
      var (granted, readyNs) = (bytes, Int64.min)
      if let group, let own = state.groups[group]?.bucket.reserve(granted, nowNs: nowNs) {
        (granted, readyNs) = (own.bytes, own.readyNs)
      }
      if let all = state.overall?.bucket.reserve(granted, nowNs: nowNs) {
        if let group { state.groups[group]?.bucket.refund(granted - all.bytes) }
        (granted, readyNs) = (all.bytes, max(readyNs, all.readyNs))
      }
      return Grant(
        bytes: granted, readyNs: readyNs, generation: state.generation, group: group,
        overallStamp: state.overall?.stamp, groupStamp: group.flatMap { state.groups[$0]?.stamp })
    }
  }

  /// Returns the unused rest of a grant to those limits that have not been replaced since.
  func refund(_ grant: Grant) {
    guard grant.bytes > 0 else { return }
    state.withLock { state in
      if state.overall?.stamp == grant.overallStamp { state.overall?.bucket.refund(grant.bytes) }
      guard let group = grant.group, state.groups[group]?.stamp == grant.groupStamp else { return }
      state.groups[group]?.bucket.refund(grant.bytes)
    }
  }
}
