/// Detects that a request moves fewer than 1,024 bytes per second for too long. Pure: the caller provides times and
/// counts.
///
/// Time in which we blocked the receiving thread ourselves (a slow reader of standard output, a slow disk) does not
/// count.
///
/// Each 1,024 bytes make up for one second, however late they arrive: a slow transfer in bursts is still slow.
///
/// It replaces the limit of libcurl, which also fires while a transfer waits for our own rate limit (libcurl 7.88.1);
/// that says nothing about the server.
struct StallWatch {
  static let leastBytesPerSecond: Int64 = 1024

  private let limitNs: Int64
  private var checkedNs: Int64
  private var movedAtCheck: Int64 = 0
  /// Up to this time, enough bytes have moved.
  private var goodNs: Int64
  /// The longest time for which too few bytes had moved.
  private(set) var longestPauseNs: Int64 = 0

  init(limitMs: Int64, nowNs: Int64) {
    limitNs = limitMs * 1_000_000
    checkedNs = nowNs
    goodNs = nowNs
  }

  /// `moved` counts bytes in both directions; a smaller count than before is a rewind, hence progress. `isExcused` says
  /// that we ourselves delayed the request since the last check, and `ownNs` for how long we blocked the receiving
  /// thread. `limitMs` replaces the limit for this check. True when the request has to be ended.
  mutating func isStalled(
    moved: Int64, isExcused: Bool, ownNs: Int64 = 0, nowNs: Int64, limitMs: Int64? = nil
  ) -> Bool {
    let elapsed = nowNs - checkedNs
    guard elapsed > 0 else { return false }
    goodNs = min(nowNs, goodNs + ownNs)
    let delta = moved - movedAtCheck
    checkedNs = nowNs
    movedAtCheck = moved
    if isExcused || delta < 0 {
      goodNs = nowNs
    } else {
      let madeUp = min(Double(nowNs - goodNs), Double(delta) / Double(Self.leastBytesPerSecond) * 1e9)
      goodNs += Int64(madeUp)
    }
    longestPauseNs = max(longestPauseNs, nowNs - goodNs)
    return nowNs - goodNs >= (limitMs.map { $0 * 1_000_000 } ?? limitNs)
  }
}
