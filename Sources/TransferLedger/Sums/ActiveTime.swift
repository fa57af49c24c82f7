import TransferModel

/// The time in which anything was in flight: the union of intervals, exact in whatever order they are added. Up to half
/// a million disjoint intervals are kept in memory as they are, more of them packed, in about 4 bytes each.
struct ActiveTime {
  struct Interval: Hashable {
    var startMs, endMs: Int64
  }

  /// Disjoint, in order.
  private var islands: [Interval] = []
  /// In the order in which they were added; joined to the islands when there are many of them.
  private var recent: [Interval] = []
  /// Older islands. Those of one run are disjoint; those of different runs may overlap.
  private var runs: [PackedIslands] = []

  private static let recentAtMost = 32_768
  private static let islandsAtMost = 500_000
  private static let runsAtMost = 8

  init() {}

  mutating func add(startMs: Int64, endMs: Int64) {
    guard endMs >= startMs else { return }
    if let last = recent.last, startMs >= last.startMs, startMs <= last.endMs {
      return recent[recent.count - 1].endMs = max(last.endMs, endMs)
    }
    recent.append(Interval(startMs: startMs, endMs: endMs))
    if recent.count >= Self.recentAtMost { settle() }
  }

  /// The number of intervals in memory that are not packed.
  var kept: Int { islands.count + recent.count }

  /// The length of the union in milliseconds.
  var totalMs: Int64 {
    var total: Int64 = 0
    forEachIsland { total +|= $0.endMs -| $0.startMs }
    return total
  }

  /// For each of these ascending times, the time from the end of the last interval that began before it; nil if that
  /// moment is in an interval, or none began before it.
  func idle(before times: [Int64]) -> [TimeSpan?] {
    var found: [TimeSpan?] = []
    var lastMs: Int64?
    forEachIsland { island in
      while found.count < times.count, times[found.count] < island.startMs {
        found.append(Self.gap(from: lastMs, to: times[found.count]))
      }
      lastMs = island.endMs
    }
    for ms in times.dropFirst(found.count) { found.append(Self.gap(from: lastMs, to: ms)) }
    return found
  }

  private static func gap(from endMs: Int64?, to ms: Int64) -> TimeSpan? {
    endMs.flatMap { $0 < ms ? TimeSpan($0, ms) : nil }
  }

  private mutating func settle() {
    guard let first = recent.map(\.startMs).min() else { return }
    // New intervals mostly begin near the end of the islands: only the islands from there on are sorted again.
    let kept = islands.firstIndex { $0.endMs >= first } ?? islands.count
    let open = (islands[kept...] + recent).sorted { $0.startMs < $1.startMs }
    islands.removeSubrange(kept...)
    recent.removeAll(keepingCapacity: true)
    for interval in open {
      if let last = islands.last, interval.startMs <= last.endMs {
        islands[islands.count - 1].endMs = max(last.endMs, interval.endMs)
      } else {
        islands.append(interval)
      }
    }
    if islands.count > Self.islandsAtMost { pack() }
  }

  /// Packs all islands into one run, and joins the runs into one if there are many.
  private mutating func pack() {
    var run = PackedIslands()
    islands.forEach { run.append($0) }
    runs.append(run)
    islands.removeAll(keepingCapacity: true)
    guard runs.count > Self.runsAtMost else { return }
    var joined = PackedIslands()
    forEachIsland { joined.append($0) }
    runs = [joined]
  }

  /// Passes the intervals of the union to `body`, in order.
  private func forEachIsland(_ body: (Interval) -> Void) {
    var settled = self
    settled.settle()
    var newest = PackedIslands()
    settled.islands.forEach { newest.append($0) }
    var sources = (settled.runs + [newest]).map { $0.makeIterator() }
    var heads = sources.indices.map { sources[$0].next() }
    var last: Interval?
    while true {
      var first: (source: Int, island: Interval)?
      for (source, head) in heads.enumerated() {
        if let head, head.startMs < first?.island.startMs ?? .max { first = (source, head) }
      }
      guard let (source, next) = first else { break }
      heads[source] = sources[source].next()
      if let known = last, next.startMs <= known.endMs {
        last?.endMs = max(known.endMs, next.endMs)
      } else {
        if let last { body(last) }
        last = next
      }
    }
    if let last { body(last) }
  }
}

extension ActiveTime {
  /// Adds the result of ``packed(from:)``.
  mutating func add(packed: [UInt8], from: Int64) {
    for island in PackedIslands(packed, from: from) { add(startMs: island.startMs, endMs: island.endMs) }
  }

  /// The union as distances and lengths, beginning at `from`; no interval may begin before that.
  func packed(from: Int64) -> [UInt8] {
    var packed = PackedIslands(from: from)
    forEachIsland { packed.append($0) }
    return packed.bytes
  }
}
