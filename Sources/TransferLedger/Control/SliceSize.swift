/// How many rows are changed in one transaction, adapted to the duration of the previous one, so that an engine that
/// shares the ledger never waits long.
struct SliceSize: Equatable {
  /// The intended duration of a transaction: on a busy machine it may double without anyone noticing.
  static let aimMs: Int64 = 25
  static let bounds = 8...2_000

  private(set) var count = 100

  /// Records that `rows` took `ms` milliseconds. The size at most doubles: a cheap part says little about the next.
  mutating func took(_ ms: Int64, for rows: Int) {
    let fitting = Int(Int64(rows) * Self.aimMs / max(1, ms))
    count = min(max(fitting, Self.bounds.lowerBound), min(count * 2, Self.bounds.upperBound))
  }

  /// Changes `rows` part by part; `change` returns how long its transaction took.
  static func walk<ID, E: Error>(_ rows: [ID], _ change: ([ID]) throws(E) -> Int64) throws(E) {
    var (size, start) = (SliceSize(), 0)
    while start < rows.count {
      let part = Array(rows[start..<min(start + size.count, rows.count)])
      size.took(try change(part), for: part.count)
      start += part.count
    }
  }
}
