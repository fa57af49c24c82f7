/// What is timed.
public enum LatencyMeasure: String, Sendable, CaseIterable {
  /// A chunk, from the start of its first attempt until it was known to be stored: with all that was tried again.
  case chunk = "chunk.ack"
  /// The request of one part that succeeded.
  case attempt
  /// A done file, from when it was recorded.
  case file = "file.wall"
  /// A batch whose files all came to rest, from when it was recorded to the end of the last.
  case batch = "batch.wall"
}

/// By what latencies are told apart. Each is known of a batch.
public enum LatencyGroup: String, Sendable, CaseIterable { case host, batch, `protocol`, direction, job }

/// How often each number of milliseconds was measured.
public struct LatencyHistogram: Sendable, Hashable {
  public private(set) var counts: [Int64: Int64] = [:]

  public init() {}

  /// A time below zero was measured with a clock that was set back, and says nothing.
  public mutating func add(_ ms: Int64, count: Int64 = 1) { if ms >= 0 { counts[ms, default: 0] +|= count } }

  public mutating func add(_ other: LatencyHistogram) { counts.merge(other.counts, uniquingKeysWith: +) }

  public var n: Int64 { counts.values.reduce(0, +|) }

  /// How many took no longer, and how many took less.
  public func count(upTo ms: Int64) -> Int64 { counts.reduce(0) { $0 +| ($1.key <= ms ? $1.value : 0) } }
  public func count(below ms: Int64) -> Int64 { counts.reduce(0) { $0 +| ($1.key < ms ? $1.value : 0) } }
}

/// All that was timed: by group, then by measure.
public typealias LatencyHistograms = [String: [LatencyMeasure: LatencyHistogram]]
