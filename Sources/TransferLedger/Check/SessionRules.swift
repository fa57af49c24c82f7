extension LedgerReader {
  /// Rules of sessions, runs and requested actions.
  static let sessionRules: [(name: String, sql: String)] = [
    (
      "I21 an open session belongs to one file",
      // Not the name that they share: whoever knows it may be able to continue the upload.
      """
      SELECT f.destination_id, min(s.id), max(s.id) FROM session s JOIN file f ON f.id = s.file_id
      WHERE s.state = 'open' AND s.abort_after IS NULL AND f.is_download IS NULL
      GROUP BY f.destination_id, s.remote_id HAVING count(*) > 1
      """
    ),
    (
      "I25 parts keep the limits of S3",
      """
      SELECT f.id FROM file f JOIN batch b ON b.id = f.batch_id WHERE b.protocol = 's3' AND f.chunk_count > 1
        AND (f.chunk_count > 10000 OR f.chunk_size < 5242880)
      """
    ),
    (
      "I28 a done or cancelled file has no session left",
      """
      SELECT s.id FROM session s JOIN file f ON f.id = s.file_id
      WHERE f.state IN ('done', 'superseded', 'cancelled') AND s.state IN ('intended', 'open') AND s.abort_after IS NULL
      """
    ),
    (
      "I30 active files belong to a live run",
      """
      SELECT f.id FROM file f JOIN engine_run e ON e.id = f.run_id WHERE e.ended_at IS NOT NULL
      """
    ),
    (
      "I32 only a file that an engine has, or that is settling, has a requested action",
      "SELECT id FROM file WHERE requested_action IS NOT NULL AND state NOT IN ('active', 'finishing', 'settling')"
    ),
    (
      "I33 only files that have ended are hidden",
      "SELECT id FROM file WHERE hidden AND state NOT IN ('done', 'failed', 'cancelled', 'superseded')"
    ),
  ]
}
