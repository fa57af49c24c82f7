import TransferModel

/// The bottleneck while requests ran.
package enum WhyLimit: String, Sendable, CaseIterable {
  /// Our own rate limit.
  case rate
  /// This machine's processor.
  case processor
  /// Short requests: each waits for its answer, independent of the bandwidth.
  case roundTrip = "round_trip"
  /// The server's time until it answers.
  case server
  /// The network, or the speed at which the other side accepts or sends bytes.
  case network
}

/// The figures behind ``WhyLimit``; unknown ones are nil.
package struct WhyLimits: Sendable, Hashable {
  package var limit: WhyLimit?
  /// The mean body length of successful requests, in bytes, and the mean time in which their bodies did not move: until
  /// the connection was made, and until the answer arrived.
  package var chunkBytes: Int64?
  package var turnaroundMs: Int64?
  /// The maximum number of concurrent requests.
  package var connections: Int
  /// The shortest time in which a connection was made.
  package var roundTripMs: Int64?
  /// chunk × connections / turnaround: the maximum throughput of such requests on any network, in bytes per second.
  package var boundBps: Int64?
  /// Bytes of all attempts divided by the time in which any body was being sent; nil if unknown for one of them.
  package var sendBps: Int64?
  /// The running bodies; nil if their engine reports none.
  package var inFlight: InFlight?
  /// The current rate limit of the batch, and the total delay of bodies by rate limits.
  package var rateBps: Int64?
  package var heldMs: Int64
  /// CPU use of the engines while they ran; 1 is one processor.
  package var processorShare: Double?

  /// Rate limits are significant if they delay bodies for a fifth of their time.
  private static let heldShare: Int64 = 5
  /// A server answers promptly if it takes at most this many round trips.
  private static let promptRoundTrips: Int64 = 3

  package init(_ tally: WhyTally, _ result: WallResult, runs: [RunLife], rate: Int64?) {
    let bodies = tally.bodies
    chunkBytes = bodies > 0 ? tally.bodyBytes / bodies : nil
    turnaroundMs = bodies > 0 ? tally.turnaroundMs / bodies : nil
    connections = result.peakRequests
    roundTripMs = tally.dialMs
    (rateBps, heldMs, inFlight) = (rate, tally.heldMs, tally.inFlight)
    sendBps = tally.movedBytes.flatMap { Quantity.rate(bytes: $0, ms: result.parts[.send]) }
    processorShare = Self.share(runs)
    if let chunk = chunkBytes, bodies > 0 {
      let (bytes, overflows) = chunk.multipliedReportingOverflow(by: Int64(connections) *| bodies)
      boundBps = overflows ? nil : Quantity.rate(bytes: bytes, ms: tally.turnaroundMs)
    }
    limit = judged(tally)
  }

  private func judged(_ tally: WhyTally) -> WhyLimit? {
    if tally.heldMs > 0, tally.heldMs >= (tally.heldMs +| tally.bodyMs) / Self.heldShare { return .rate }
    guard tally.bodies > 0, tally.bodyMs +| tally.turnaroundMs > 0 else { return nil }
    if let share = processorShare, share >= 0.9 { return .processor }
    guard tally.turnaroundMs > tally.bodyMs else { return .network }
    guard let turnaround = turnaroundMs, let trip = roundTripMs else { return .server }
    return turnaround <= trip *| Self.promptRoundTrips ? .roundTrip : .server
  }

  /// Only includes runs that lasted for a while; nil if none recorded it.
  private static func share(_ runs: [RunLife]) -> Double? {
    let known = runs.filter { $0.processorMs != nil && $0.lastMs -| $0.startedMs >= 1_000 }
    let lived = known.reduce(0) { $0 +| ($1.lastMs -| $1.startedMs) }
    guard lived > 0 else { return nil }
    let used = known.reduce(0) { $0 +| ($1.processorMs ?? 0) }
    return (Double(used) / Double(lived) * 100).rounded() / 100
  }
}
