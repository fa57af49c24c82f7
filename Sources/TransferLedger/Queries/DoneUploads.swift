public import TransferModel

/// Done uploads that are current for their keys, for checking them again at their destinations.
extension LedgerReader {
  /// The newest done upload of each key, even if a newer one waits, failed or was cancelled; ordered by number,
  /// starting after `after`. Files are read by number, the generations of a key through their indexes.
  package func doneUploads(_ filter: RowFilter, after: Int64, limit: Int) throws -> [DoneUpload] {
    try db.rows(
      """
      SELECT f.id, f.batch_id, f.uid, f.path, f.key, f.size, f.mtime_ns, r.confirmation, r.digest, r.remote_digest,
        r.etag, r.version_id, s.remote_id, s.notes, s.intended_at,
        EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key AND g.live = 1
            AND g.generation > f.generation AND g.started_at IS NOT NULL)
          OR EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key AND g.live IS NULL
            AND g.generation > f.generation AND g.started_at IS NOT NULL),
        b.origin_id IS NOT NULL
      FROM file f CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1 CROSS JOIN batch b ON b.id = f.batch_id
        LEFT JOIN session s ON s.id = (SELECT max(id) FROM session WHERE file_id = f.id AND state = 'completed')
      WHERE f.id > ?1 AND f.state = 'done' AND f.is_download IS NULL
        AND NOT {replaced} AND {files}
      ORDER BY f.id LIMIT ?2
      """, filter, .integer(after), .int(limit), row: Self.doneUpload)
  }

  /// How many done uploads the filter selects: those that ``doneUploads(_:after:limit:)`` returns, and those that a
  /// later upload to the same key has replaced.
  public func doneUploadCounts(_ filter: RowFilter) throws -> (standing: Int, replaced: Int) {
    try db.first(
      """
      SELECT count(*), coalesce(sum({replaced}), 0)
      FROM file f WHERE f.state = 'done' AND f.is_download IS NULL AND {files}
      """, filter
    ) { (standing: $0.int(0) - $0.int(1), replaced: $0.int(1)) } ?? (0, 0)
  }

  /// The newest finding about a file since it became done; nil if it was never checked.
  package func laterFinding(of file: FileID) throws -> LaterFinding? {
    try db.first(
      """
      SELECT finding, confirmation, size, coalesce(remote_digest, digest), etag, attempt_id, recorded_at FROM receipt
      WHERE file_id = ? AND n > 1 ORDER BY n DESC LIMIT 1
      """, .id(file)
    ) { row in
      LaterFinding(
        finding: row.text(0), confirmation: row.text(1), size: row.int64OrNil(2), digest: row.textOrNil(3),
        etag: row.text(4), attempt: row.idOrNil(5), atMs: row.int64(6))
    }
  }

  private static func doneUpload(_ row: SQLRow) -> DoneUpload {
    var proof = FileProof(confirmation: Confirmation(rawValue: row.text(7)) ?? .none)
    proof.digest = row.textOrNil(8).flatMap(Digest.init(text:))
    proof.remoteDigest = row.textOrNil(9).flatMap(Digest.init(text:))
    (proof.etag, proof.versionID) = (row.text(10), row.text(11))
    let session = row.int64OrNil(14).map { intendedAtMs in
      SessionFacts(remoteID: row.textOrNil(12), intendedAtMs: intendedAtMs, notes: storedValues(row.textOrNil(13)))
    }
    return DoneUpload(
      id: row.id(0), batch: row.id(1), uid: row.uid(2), path: row.name(3), key: row.name(4), size: row.int64(5),
      mtimeNs: row.int64(6), proof: proof, session: session, isBeingReplaced: row.flag(15), isMerged: row.flag(16))
  }
}
