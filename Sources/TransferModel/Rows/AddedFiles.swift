/// The files of an `add`: those that it recorded, and those that it found waiting or active.
package struct SelectedFiles: Sendable, Hashable {
  /// The batches that hold them.
  package private(set) var batches: Set<BatchID> = []
  /// Their numbers, with adjacent ones joined: files that were admitted together usually have adjacent numbers.
  private var ranges: [ClosedRange<Int64>] = []
  /// Listings among them, whose files are added to their batch later.
  fileprivate var listings: [BatchID: Int64] = [:]

  package init() {}

  /// Includes the files of the listing `file`.
  package mutating func follow(_ file: FileID, of batch: BatchID) {
    listings[batch] = min(listings[batch] ?? .max, file.rawValue)
  }

  package mutating func insert(_ file: FileID, of batch: BatchID) {
    batches.insert(batch)
    append(file.rawValue...file.rawValue)
  }

  package mutating func append(_ other: SelectedFiles) {
    batches.formUnion(other.batches)
    for range in other.ranges { append(range) }
    listings.merge(other.listings) { min($0, $1) }
  }

  private mutating func append(_ range: ClosedRange<Int64>) {
    guard let last = ranges.last, last.lowerBound <= range.lowerBound, range.lowerBound <= last.upperBound + 1 else {
      return ranges.append(range)
    }
    ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
  }

  /// Sorted, each number once: a source may be given twice, and several pushes may add to one batch.
  fileprivate var merged: [ClosedRange<Int64>] { Self.merged(ranges) }

  package static func merged(_ ranges: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
    var sorted = SelectedFiles()
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) { sorted.append(range) }
    return sorted.ranges
  }
}

/// The files of one `add`, each once, with the newer generations that superseded them meanwhile. Independent of which
/// engine sends them, and of other files in their batches.
public struct AddedFiles: Sendable, Hashable {
  /// The last row numbers before the `add`; attempts that were open then may still end.
  package struct Mark: Sendable, Hashable {
    package var file, attempt: Int64

    package init(file: Int64, attempt: Int64) { (self.file, self.attempt) = (file, attempt) }
    /// The mark of an empty ledger.
    package static let beginning = Mark(file: 0, attempt: 0)
  }

  package let mark: Mark
  package let ranges: [ClosedRange<Int64>]
  /// All files of these batches after these numbers, which are from listings.
  package let listings: [BatchID: Int64]
  /// Its own batch, and the batches of the files that it found.
  public let batches: [BatchID]

  package init(since mark: Mark, batch: BatchID?, files: SelectedFiles) {
    self.mark = mark
    ranges = files.merged
    listings = files.listings
    batches = files.batches.union(batch.map { [$0] } ?? []).sorted()
  }

  /// The combination of several, of which the first is the earliest.
  package init(of all: [AddedFiles]) {
    mark = all.first?.mark ?? .beginning
    ranges = SelectedFiles.merged(all.flatMap(\.ranges))
    listings = all.reduce(into: [:]) { $0.merge($1.listings) { min($0, $1) } }
    batches = Set(all.flatMap(\.batches)).sorted()
  }

  /// The same with files that were recorded before.
  package func adding(_ earlier: SelectedFiles) -> AddedFiles {
    AddedFiles(
      mark: mark, ranges: SelectedFiles.merged(ranges + earlier.merged), listings: listings,
      batches: Set(batches).union(earlier.batches).sorted())
  }

  private init(mark: Mark, ranges: [ClosedRange<Int64>], listings: [BatchID: Int64], batches: [BatchID]) {
    (self.mark, self.ranges, self.listings, self.batches) = (mark, ranges, listings, batches)
  }

  package static func holds(_ file: Int64, _ ranges: [ClosedRange<Int64>]) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < file { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(file)
  }
}

/// The progress of the files of one `add`.
package struct AddedTotals: Sendable, Hashable {
  /// Without those that could not be read; bytes sent and retries since the `add`.
  package var files = FileTotals()
  /// Pending files whose batch is past its deadline.
  package var overdue = 0
  /// Not sent, because other files had delivered the same content.
  package var duplicates = 0
  /// Their sources were deleted before anything of them was sent.
  package var gone = 0
  /// Named by listings, and not fetched, because they were here already.
  package var unchanged = 0
  /// Body bytes that answers since the `add` acknowledged.
  package var bytesAckedSince: Int64 = 0

  package init() {}
}
