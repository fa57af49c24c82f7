/// A set of numbers as ascending ranges that do not touch. Cost depends on the number of ranges, not of numbers.
struct NumberRanges: Sendable, Hashable {
  private(set) var ranges: [ClosedRange<Int64>] = []

  var isEmpty: Bool { ranges.isEmpty }

  init(_ ranges: [ClosedRange<Int64>] = []) {
    for range in ranges { insert(range) }
  }

  func contains(_ number: Int64) -> Bool {
    let index = firstIndex(endingAt: number)
    return index < ranges.count && ranges[index].contains(number)
  }

  mutating func insert(_ added: ClosedRange<Int64>) {
    let first = firstIndex(endingAt: added.lowerBound - 1)
    var (last, low, high) = (first, added.lowerBound, added.upperBound)
    while last < ranges.count, ranges[last].lowerBound <= added.upperBound + 1 {
      (low, high) = (min(low, ranges[last].lowerBound), max(high, ranges[last].upperBound))
      last += 1
    }
    ranges.replaceSubrange(first..<last, with: CollectionOfOne(low...high))
  }

  mutating func remove(_ gone: ClosedRange<Int64>) {
    let first = firstIndex(endingAt: gone.lowerBound)
    var (last, rest) = (first, [ClosedRange<Int64>]())
    while last < ranges.count, ranges[last].lowerBound <= gone.upperBound {
      let range = ranges[last]
      if range.lowerBound < gone.lowerBound { rest.append(range.lowerBound...gone.lowerBound - 1) }
      if range.upperBound > gone.upperBound { rest.append(gone.upperBound + 1...range.upperBound) }
      last += 1
    }
    ranges.replaceSubrange(first..<last, with: rest)
  }

  /// The first range that ends at or after this number.
  private func firstIndex(endingAt number: Int64) -> Int {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = low + (high - low) / 2
      if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
