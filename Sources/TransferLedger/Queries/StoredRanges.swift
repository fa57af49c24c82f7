import TransferModel

extension LedgerReader {
  /// The ranges of a download that its server sent and that are stored, in order; adjacent ones are joined. Without
  /// chunks that were taken from a local file, entirely or in part, and without those with wrong pieces. Cost: one row
  /// for each chunk.
  package func storedRanges(of file: FileID) throws -> [ByteRange] {
    let ranges = try db.rows(
      """
      SELECT offset, iif(state = 'done', length, acked) FROM chunk
      WHERE file_id = ?1 AND (state = 'done' AND coalesce(reused, 0) = 0 OR acked > 0 AND remote IS NULL)
      ORDER BY seq
      """, .id(file)
    ) { ByteRange(offset: $0.int64(0), length: $0.int64(1)) }
    return ranges.reduce(into: []) { joined, range in
      if let last = joined.last, last.end == range.offset {
        joined[joined.count - 1] = ByteRange(offset: last.offset, length: last.length + range.length)
      } else {
        joined.append(range)
      }
    }
  }
}
