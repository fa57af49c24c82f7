/// Terms about rows that several reports share, so that all of them mean the same by it. A statement names them in braces
/// (``ComposedStatement``).
enum RowTerms {
  /// - `{after its end}`: whether an attempt `a` was made after the transfer of its file `f` had ended: an abort, or a
  ///   query about a done file. This does not change when the file changes, so that sums may be stored.
  /// - `{counted}`: the bytes that an attempt `a` stored and that count: none if the generation of its file `f` was
  ///   superseded, or if they were lost.
  /// - `{lost}`: whether what an attempt `a` stored was lost with its upload on the server, or with its partial file: its
  ///   session was given up, and its file began again in another one.
  /// - `{counted of all}`, `{lost of all}`: the same for statements that read all attempts.
  /// - `{replaced}`: whether a later file replaced the object of the file `f`, or the local file of the download `f`.
  static let parts: [(name: String, text: String)] = [
    ("after its end", isAfterItsEnd), ("replaced", isReplaced),
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
        WHERE g.path = f.path AND g.is_download = 1 AND g.state = 'done' AND g.id > f.id))
    """
}
