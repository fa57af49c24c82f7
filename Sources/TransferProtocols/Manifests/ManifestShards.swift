import TransferModel

/// Distributes the files of a manifest over shards of about equal size, as they arrive: each file goes to the shard
/// with the least so far, and to the first of several such shards. The same manifest gives the same shards, and no two
/// differ by more than the largest file.
public struct ManifestShards: Sendable {
  public enum Measure: String, Sendable, CaseIterable { case bytes, files }

  public struct Load: Sendable, Hashable {
    public var files: Int64 = 0
    public var bytes: Int64 = 0

    public init() {}
  }

  public static let counts = 1...1_000

  private let measure: Measure
  public private(set) var loads: [Load]
  /// Indices of ``loads`` as a binary heap, the least loaded first.
  private var heap: [Int]

  /// `count` is one of ``counts``.
  public init(_ count: Int, by measure: Measure) {
    precondition(Self.counts.contains(count), "\(count) shards")
    self.measure = measure
    loads = Array(repeating: Load(), count: count)
    heap = Array(0..<count)
  }

  /// The index of the shard for a file of this size in bytes; nil counts as empty.
  public mutating func take(size: Int64?) -> Int {
    let shard = heap[0]
    loads[shard].files += 1
    loads[shard].bytes +|= size ?? 0
    sink()
    return shard
  }

  private func isLess(_ a: Int, _ b: Int) -> Bool {
    let (one, other) = (loads[a], loads[b])
    switch measure {
    // Each file has a cost of its own, so that empty ones are spread out.
    case .bytes: return (one.bytes, one.files, Int64(a)) < (other.bytes, other.files, Int64(b))
    case .files: return (one.files, Int64(a)) < (other.files, Int64(b))
    }
  }

  /// Moves the first element of the heap to its position.
  private mutating func sink() {
    var place = 0
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
        if isLess(heap[child], heap[least]) { least = child }
      }
      guard least != place else { return }
      heap.swapAt(place, least)
      place = least
    }
  }
}
