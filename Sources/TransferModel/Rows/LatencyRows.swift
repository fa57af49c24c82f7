/// The kinds of measured times.
package enum LatencyMeasure: String, Sendable, CaseIterable {
  /// A chunk, from the start of its first attempt until it was known to be stored, including retries.
  case chunk = "chunk.ack"
  /// The request of one part that succeeded.
  case attempt
  /// A done file, from when it was recorded.
  case file = "file.wall"
  /// A batch whose files have all ended, from when it was recorded to the last end.
  case batch = "batch.wall"
}

/// Properties to group latencies by. Each is a property of a batch.
package enum LatencyGroup: String, Sendable, CaseIterable { case host, batch, `protocol`, direction, job }

/// Counts by milliseconds.
package struct LatencyHistogram: Sendable, Hashable {
  package private(set) var counts: [Int64: Int64] = [:]

  package init() {}

  /// Negative times, from a clock that was set back, are ignored.
  package mutating func add(_ ms: Int64, count: Int64 = 1) { if ms >= 0 { counts[ms, default: 0] +|= count } }

  package mutating func add(_ other: LatencyHistogram) { counts.merge(other.counts, uniquingKeysWith: +) }

  package var n: Int64 { counts.values.reduce(0, +|) }

  /// How many took no longer, and how many took less.
  package func count(upTo ms: Int64) -> Int64 { counts.reduce(0) { $0 +| ($1.key <= ms ? $1.value : 0) } }
  package func count(below ms: Int64) -> Int64 { counts.reduce(0) { $0 +| ($1.key < ms ? $1.value : 0) } }
}

/// All histograms: by group, then by measure.
package typealias LatencyHistograms = [String: [LatencyMeasure: LatencyHistogram]]
