/// Disjoint intervals in order. Each is stored as its distance from the previous one and its length, in as few bytes as
/// these need (``PackedNumbers``).
struct PackedIslands: Sequence {
  private(set) var bytes: [UInt8]
  private let from: Int64
  private var endMs: Int64

  /// Starts empty; no interval may begin before `from`.
  init(from: Int64 = 0) { (bytes, self.from, endMs) = ([], from, from) }

  /// Reads the `bytes` of such a value. Nothing can be appended.
  init(_ bytes: [UInt8], from: Int64) { (self.bytes, self.from, endMs) = (bytes, from, from) }

  mutating func append(_ island: ActiveTime.Interval) {
    PackedNumbers.append(island.startMs &- endMs, to: &bytes)
    PackedNumbers.append(island.endMs &- island.startMs, to: &bytes)
    endMs = island.endMs
  }

  /// The start of the first interval and the end of the last; nil if there is none.
  var span: (startMs: Int64, endMs: Int64)? {
    var (startMs, endMs) = (Int64?.none, Int64(0))
    for island in self { (startMs, endMs) = (startMs ?? island.startMs, island.endMs) }
    return startMs.map { ($0, endMs) }
  }

  func makeIterator() -> Iterator { Iterator(rest: bytes[...], endMs: from) }

  /// Leaves out a truncated interval at the end of damaged bytes.
  struct Iterator: IteratorProtocol {
    fileprivate var rest: ArraySlice<UInt8>
    fileprivate var endMs: Int64

    mutating func next() -> ActiveTime.Interval? {
      guard let gap = PackedNumbers.first(of: &rest), let length = PackedNumbers.first(of: &rest) else { return nil }
      let startMs = endMs &+ gap
      endMs = startMs &+ length
      return ActiveTime.Interval(startMs: startMs, endMs: endMs)
    }
  }
}
