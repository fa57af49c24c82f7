import TransferModel

/// Times in which anything was in flight: the union of intervals. Memory stays below some 20 MiB however many there
/// are.
struct ActiveTime {
  struct Interval: Hashable {
    var startMs, endMs: Int64
  }

  /// Apart from each other, in order.
  private var islands: [Interval] = []
  /// As they came; joined to the islands when there are many of them.
  private var recent: [Interval] = []
  /// Of islands that nothing can join any more.
  private var foldedMs: Int64 = 0
  private var foldedUntilMs = Int64.min

  private static let recentAtMost = 32_768
  private static let islandsAtMost = 500_000

  init() {}

  mutating func add(startMs: Int64, endMs: Int64) {
    guard endMs >= startMs else { return }
    if let last = recent.last, startMs >= last.startMs, startMs <= last.endMs {
      return recent[recent.count - 1].endMs = max(last.endMs, endMs)
    }
    recent.append(Interval(startMs: startMs, endMs: endMs))
    if recent.count >= Self.recentAtMost { settle() }
  }

  /// Intervals in memory.
  var kept: Int { islands.count + recent.count }

  /// Milliseconds of the union.
  var totalMs: Int64 {
    let all = settled
    return all.islands.reduce(all.foldedMs) { $0 +| ($1.endMs -| $1.startMs) }
  }

  private var settled: ActiveTime {
    var copy = self
    copy.settle()
    return copy
  }

  private mutating func settle() {
    guard !recent.isEmpty else { return }
    // What is joined to what is there already begins mostly at its end: only from there on is anything sorted.
    let first = max(foldedUntilMs, recent.map(\.startMs).min() ?? foldedUntilMs)
    let kept = islands.firstIndex { $0.endMs >= first } ?? islands.count
    let open = (islands[kept...] + recent).sorted { $0.startMs < $1.startMs }
    islands.removeSubrange(kept...)
    recent.removeAll(keepingCapacity: true)
    for interval in open {
      let start = max(interval.startMs, foldedUntilMs)
      guard interval.endMs >= start else { continue }
      if let last = islands.last, start <= last.endMs {
        islands[islands.count - 1].endMs = max(last.endMs, interval.endMs)
      } else {
        islands.append(Interval(startMs: start, endMs: interval.endMs))
      }
    }
    if islands.count > Self.islandsAtMost { fold() }
  }

  /// The older half becomes a number. Attempts come nearly in the order of their times; one that began before that (the
  /// clock was set back by as much) counts from there on.
  private mutating func fold() {
    let count = islands.count / 2
    foldedMs +|= islands[..<count].reduce(0) { $0 +| ($1.endMs -| $1.startMs) }
    foldedUntilMs = islands[count - 1].endMs
    islands.removeFirst(count)
  }
}

extension ActiveTime {
  /// What ``packed(from:)`` made.
  mutating func add(packed: [UInt8], from: Int64) {
    var at = from
    for (gap, length) in PackedNumbers.pairs(packed) {
      add(startMs: at &+ gap, endMs: at &+ gap &+ length)
      at = at &+ gap &+ length
    }
  }

  /// Distances and lengths, beginning at `from`, before which nothing was.
  func packed(from: Int64) -> [UInt8] {
    var at = from
    return PackedNumbers.pack(
      settled.islands.flatMap { island in
        defer { at = island.endMs }
        return [island.startMs -| at, island.endMs -| island.startMs]
      })
  }
}
