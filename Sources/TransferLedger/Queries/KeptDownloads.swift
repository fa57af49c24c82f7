public import TransferModel

extension LedgerReader {
  /// The newest done download of each path, even if a newer one waits, failed or was cancelled; ordered by number,
  /// starting after `after`.
  public func keptDownloads(
    _ filter: RowFilter, _ share: FileShare, after: Int64, limit: Int
  ) throws -> [KeptDownload] {
    try db.rows(
      """
      SELECT f.id, f.batch_id, f.path, f.key, f.size, f.expected, r.digest
      FROM file f CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1
      WHERE f.id > ?1 AND f.id % ?2 = ?3 AND f.is_download = 1 AND f.state = 'done' AND f.size IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM file g WHERE g.path = f.path AND g.is_download = 1 AND g.state = 'done' AND g.id > f.id)
        AND {files}
      ORDER BY f.id LIMIT ?4
      """, filter, .integer(after), .int(share.count), .int(share.number - 1), .int(limit), row: Self.kept)
  }

  /// How many done downloads that the filter selects ``keptDownloads(_:_:after:limit:)`` leaves out, because a later
  /// download has their path.
  public func replacedDownloads(_ filter: RowFilter) throws -> Int {
    try db.first(
      """
      SELECT count(*) FROM file f WHERE f.is_download = 1 AND f.state = 'done'
        AND EXISTS (SELECT 1 FROM file g WHERE g.path = f.path AND g.is_download = 1 AND g.state = 'done' AND g.id > f.id)
        AND {files}
      """, filter
    ) { $0.int(0) } ?? 0
  }

  private static func kept(_ row: SQLRow) -> KeptDownload {
    let expected = storedExpectation(row.textOrNil(5))
    let proven = row.textOrNil(6).flatMap(Digest.init(text:))
    let others = expected.digests.filter { $0.algorithm != proven?.algorithm }
    return KeptDownload(
      id: row.id(0), batch: row.id(1), path: row.name(2), key: row.name(3), size: row.int64(4),
      digests: (proven.map { [$0] } ?? []) + others, expected: expected)
  }
}
