/// Terms about rows that several reports share, so that all of them mean the same by it. A statement names them in
/// braces (``ComposedStatement``).
enum RowTerms {
  /// - `{after its end}`: whether an attempt `a` was made after the transfer of its file `f` had ended: an abort, or a
  ///   query about a done file. This does not change when the file changes, so that sums may be stored.
  /// - `{counted}`: the bytes that an attempt `a` stored and that count: none if the generation of its file `f` was
  ///   superseded, or if they were lost.
  /// - `{lost}`: whether what an attempt `a` stored was lost with its upload on the server, or with its partial file:
  ///   its session was given up, and its file began again in another one.
  /// - `{counted of all}`, `{lost of all}`: the same for statements that read all attempts.
  /// - `{replaced}`: whether a later file replaced the object of the file `f`, also by another name of its destination
  ///   (``Rivals``), or the local file of the download `f`. In a merged ledger it may be of another shard: a newer
  ///   version of the same file on the same host.
  /// - `{replaced by shards}`, after FROM: in a merged ledger, done uploads `f` whose object an upload `g` of another
  ///   shard replaced later with other content, by the clocks of the two, and not rightly; `r` and `q` are their
  ///   receipts.
  static let parts: [(name: String, text: String)] = [
    ("after its end", isAfterItsEnd), ("replaced", isReplaced),
    ("key there", keyThere), ("replaced by shards", replacedByShards),
    ("counted of all", "iif(f.state = 'superseded' OR {lost of all}, 0, a.bytes_acked)"),
    ("counted", "iif(f.state = 'superseded' OR {lost}, 0, a.bytes_acked)"),
    ("lost of all", "(a.bytes_acked > 0 AND a.session_id IN (SELECT s.id FROM session s WHERE \(isGivenUp)))"),
    ("lost", "(a.bytes_acked > 0 AND EXISTS (SELECT 1 FROM session s WHERE s.id = a.session_id AND \(isGivenUp)))"),
  ]

  static let isAfterItsEnd = """
    (a.operation = 'abort' OR a.chunk_id IS NULL AND a.operation IN ('verify', 'probe') AND f.state = 'done'
      AND a.started_at > f.finished_at)
    """

  private static let isGivenUp = """
    (s.state IN ('gone', 'aborted') OR s.abort_after IS NOT NULL)
      AND EXISTS (SELECT 1 FROM session n WHERE n.file_id = s.file_id AND n.id > s.id)
    """

  private static let isReplaced = """
    (EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key AND g.live = 1
        AND g.generation > f.generation AND g.state = 'done')
      OR EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key
        AND g.live IS NULL AND g.generation > f.generation AND g.state = 'done')
      OR f.is_download IS NOT NULL AND EXISTS (SELECT 1 FROM file g
        WHERE g.path = f.path AND g.is_download = 1 AND g.state = 'done' AND g.id > f.id)
      OR f.is_download IS NULL AND EXISTS (SELECT 1
        FROM destination d CROSS JOIN destination e ON e.site = d.site AND e.id <> d.id AND e.origin_id IS d.origin_id
          CROSS JOIN file g ON g.id IN (
            SELECT x.id FROM file x
            WHERE x.destination_id = e.id AND x.key = {key there} AND x.live = 1 AND x.state = 'done'
            UNION ALL SELECT x.id FROM file x
            WHERE x.destination_id = e.id AND x.key = {key there} AND x.live IS NULL AND x.state = 'done')
          CROSS JOIN receipt q ON q.file_id = g.id AND q.n = 1
        WHERE d.id = f.destination_id
          AND CAST(d.before_key || f.key || d.behind_key AS BLOB) = CAST(e.before_key || g.key || e.behind_key AS BLOB)
          AND NOT (g.path = f.path AND g.size = f.size AND g.mtime_ns = f.mtime_ns)
          AND EXISTS (SELECT 1 FROM (SELECT max(p.attempt_id) AS attempt FROM receipt p
              WHERE p.file_id = f.id AND (p.n = 1 OR p.finding = 'found')) k
            WHERE q.attempt_id > k.attempt OR (SELECT a.ended_at FROM attempt a WHERE a.id = q.attempt_id)
              > (SELECT a.started_at FROM attempt a WHERE a.id = k.attempt)))
      OR EXISTS (SELECT 1 FROM destination d CROSS JOIN origin_store o ON o.id = d.origin_id
        CROSS JOIN destination e ON e.place = d.place AND e.origin_id <> d.origin_id
        CROSS JOIN origin_store p ON p.id = e.origin_id AND p.host = o.host
        CROSS JOIN file g ON g.destination_id = e.id AND g.key = f.key AND g.live = 1
        CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1 CROSS JOIN receipt q ON q.file_id = g.id AND q.n = 1
        WHERE d.id = f.destination_id AND f.is_download IS NULL AND g.is_download IS NULL AND g.state = 'done'
          AND g.path = f.path AND (q.recorded_at, g.id) > (r.recorded_at, f.id)))
    """

  /// The key at the destination `e` of the object that `f` has at its destination `d`, if its name begins and ends as
  /// those of `e` do.
  private static let keyThere = """
    substr(CAST(d.before_key || f.key || d.behind_key AS BLOB), 1 + length(e.before_key), length(d.before_key)
      + length(f.key) + length(d.behind_key) - length(e.before_key) - length(e.behind_key))
    """

  private static let replacedByShards = """
    origin_store o CROSS JOIN destination d ON d.origin_id = o.id
      CROSS JOIN destination e ON e.place = d.place AND e.origin_id <> d.origin_id
      CROSS JOIN origin_store p ON p.id = e.origin_id
      CROSS JOIN file f ON f.destination_id = d.id AND f.live = 1
      CROSS JOIN file g ON g.destination_id = e.id AND g.key = f.key AND g.live = 1
      CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1
      CROSS JOIN receipt q ON q.file_id = g.id AND q.n = 1
    WHERE f.state = 'done' AND g.state = 'done' AND f.is_download IS NULL AND g.is_download IS NULL
      AND (q.recorded_at, g.id) > (r.recorded_at, f.id)
      AND NOT (g.path = f.path AND p.host = o.host)
      AND (f.size <> g.size OR r.sha256 <> q.sha256 OR r.digest <> q.digest
        AND substr(r.digest, 1, instr(r.digest, ':')) = substr(q.digest, 1, instr(q.digest, ':')))
    """
}
