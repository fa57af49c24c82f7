public import TransferModel

/// What kept it from being faster while requests ran.
public enum WhyLimit: String, Sendable, CaseIterable {
  /// A rate limit of ours.
  case rate
  /// This machine's processor.
  case processor
  /// Short requests: however fast the line is, each waits for its answer.
  case roundTrip = "round_trip"
  /// The server's time until it answers.
  case server
  /// The line, or how fast the other side takes or gives bytes.
  case network
}

/// The figures behind ``WhyLimit``; unknown ones are nil.
public struct WhyLimits: Sendable, Hashable {
  public var limit: WhyLimit?
  /// Mean body of a request that succeeded, in bytes, and the mean time of such a request in which its body did not
  /// move: until it was connected, and until the answer.
  public var chunkBytes: Int64?
  public var turnaroundMs: Int64?
  /// The most requests at a time.
  public var connections: Int
  /// The shortest time in which a connection was made.
  public var roundTripMs: Int64?
  /// chunk × connections / turnaround: the most that such requests can move however fast the line is. Bytes a second.
  public var boundBps: Int64?
  /// What all attempts moved, over the time in which any body was on its way; nil where that is not known of one.
  public var sendBps: Int64?
  /// The rate limit of the batch now, and how long bodies waited for limits in all.
  public var rateBps: Int64?
  public var heldMs: Int64
  /// Of one processor, what the engines used while they ran; 1 is all of one.
  public var processorShare: Double?

  /// Rates hold bodies for a good part of their time when it is a fifth of it.
  private static let heldShare: Int64 = 5
  /// A server answers at once when it takes no longer than so many round trips.
  private static let promptRoundTrips: Int64 = 3

  public init(_ tally: WhyTally, _ result: WallResult, runs: [RunLife], rate: Int64?) {
    let bodies = tally.bodies
    chunkBytes = bodies > 0 ? tally.bodyBytes / bodies : nil
    turnaroundMs = bodies > 0 ? tally.turnaroundMs / bodies : nil
    connections = result.peakRequests
    roundTripMs = tally.dialMs
    (rateBps, heldMs) = (rate, tally.heldMs)
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

  /// Of runs that lasted for a while; nil when none recorded it.
  private static func share(_ runs: [RunLife]) -> Double? {
    let known = runs.filter { $0.processorMs != nil && $0.lastMs -| $0.startedMs >= 1_000 }
    let lived = known.reduce(0) { $0 +| ($1.lastMs -| $1.startedMs) }
    guard lived > 0 else { return nil }
    let used = known.reduce(0) { $0 +| ($1.processorMs ?? 0) }
    return (Double(used) / Double(lived) * 100).rounded() / 100
  }
}
