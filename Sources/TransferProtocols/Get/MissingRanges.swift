import TransferModel

/// The ranges of a chunk that are still to be fetched, because a local file had the others. They are stored with the
/// chunk, and fetched one after the other.
public struct MissingRanges: Sendable, Hashable {
  private static let key = "missing", reusedKey = "reused"
  /// Requesting a range costs more than fetching this many bytes.
  private static let closest: Int64 = 8 << 10
  private static let most = 1_000

  /// In order, in bytes of the file.
  let ranges: [ByteRange]
  /// How many bytes of the chunk a local file had.
  let reused: Int64

  private init(_ ranges: [ByteRange], reused: Int64) { (self.ranges, self.reused) = (ranges, reused) }

  /// nil for a chunk that is fetched from its start to its end.
  package init?(_ chunk: ChunkFacts) {
    guard let text = chunk.remote[Self.key], let reused = chunk.remote[Self.reusedKey].flatMap({ Int64($0) }) else {
      return nil
    }
    var ranges: [ByteRange] = []
    for text in text.split(separator: " ") {
      let ends = text.split(separator: "+").compactMap { Int64($0) }
      guard ends.count == 2, ends[0] >= ranges.last?.end ?? chunk.range.offset, ends[1] > 0,
        ends[1] <= chunk.range.end - ends[0]
      else { return nil }
      ranges.append(ByteRange(offset: ends[0], length: ends[1]))
    }
    guard !ranges.isEmpty else { return nil }
    self.init(ranges, reused: reused)
  }

  /// What is missing of a chunk without the ranges that were found, which are in order; short gaps between two missing
  /// ranges are fetched too.
  package init(of chunk: IncompleteChunk, without found: some Sequence<ByteRange>) {
    var ranges: [ByteRange] = []
    var next = chunk.rest.offset
    for range in found where range.end > next && range.offset < chunk.rest.end {
      if range.offset > next { ranges.append(ByteRange(offset: next, length: range.offset - next)) }
      next = range.end
    }
    if next < chunk.rest.end { ranges.append(ByteRange(offset: next, length: chunk.rest.end - next)) }
    var closest = Self.closest
    ranges = Self.joined(ranges, closerThan: closest)
    while ranges.count > Self.most {
      closest *= 2
      ranges = Self.joined(ranges, closerThan: closest)
    }
    self.init(ranges, reused: chunk.rest.length - ranges.reduce(0) { $0 + $1.length })
  }

  private static func joined(_ ranges: [ByteRange], closerThan closest: Int64) -> [ByteRange] {
    ranges.reduce(into: []) { joined, range in
      if let last = joined.last, range.offset - last.end < closest {
        joined[joined.count - 1] = ByteRange(offset: last.offset, length: range.end - last.offset)
      } else {
        joined.append(range)
      }
    }
  }

  /// All of the chunk was found.
  public var isEmpty: Bool { ranges.isEmpty }
  /// Nothing of the chunk was found.
  public var isAll: Bool { reused == 0 }

  /// The stored form.
  public var notes: [String: String] {
    [Self.key: ranges.map { "\($0.offset)+\($0.length)" }.joined(separator: " "), Self.reusedKey: String(reused)]
  }

  /// The same after the first bytes of the first range, or all of it, have been stored.
  func without(_ stored: ByteRange) -> MissingRanges {
    guard let first = ranges.first, first.offset == stored.offset else { return self }
    let rest = ByteRange(offset: stored.end, length: first.end - stored.end)
    return MissingRanges((rest.length > 0 ? [rest] : []) + ranges.dropFirst(), reused: reused)
  }
}
