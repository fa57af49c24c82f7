/// The numbers of the newest event and attempt of one part of a ledger: its own rows, or those of a merged shard.
package struct NewestNumbers: Sendable, Hashable {
  /// 0 for the ledger's own rows, else the number of the shard.
  package var part: Int64
  /// All numbers of the part lie between these.
  package var after, before: Int64
  /// Equals ``after`` if there is none.
  package var event, attempt: Int64

  package init(part: Int64, after: Int64, before: Int64, event: Int64, attempt: Int64) {
    (self.part, self.after, self.before) = (part, after, before)
    (self.event, self.attempt) = (event, attempt)
  }

  /// Rows of several parts, oldest first: each part keeps its own order, and rows of different parts are ordered by
  /// time.
  package static func joined<Row>(_ parts: [[Row]], atMs: (Row) -> Int64) -> [Row] {
    let filled = parts.filter { !$0.isEmpty }
    guard filled.count > 1 else { return filled.first ?? [] }
    return filled.flatMap(\.self).enumerated().sorted {
      (atMs($0.element), $0.offset) < (atMs($1.element), $1.offset)
    }.map(\.element)
  }
}
