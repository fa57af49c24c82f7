public import TransferModel

extension LedgerReader {
  /// Waiting removals and kept sources of the files that the filter selects, with the reasons. Counts only the sources
  /// that were kept since `keptSinceMs`. Removals that a person revoked or tidied away are not counted, nor sources
  /// that were replaced by newer content or that somebody else removed. A source of a job that was found changed is
  /// replaced when the job scans it again, if it is still there. Reads the removals that are not done.
  public func removals(_ filter: RowFilter, keptSinceMs: Int64 = .min) throws -> RemovalTotals {
    Self.totals(try db.rows(Self.removalsByReason, filter, .integer(keptSinceMs), row: Self.reason))
  }

  /// The same for all batches of a job. The cost depends only on the removals that are not done.
  public func removals(ofJob job: String, keptSinceMs: Int64) throws -> RemovalTotals {
    let statement = ComposedStatement(
      sql: Self.removalsByReason, variant: "job", parts: [("files", Self.isOfJob)], values: [.integer(keptSinceMs)],
      shared: [.text(job)])
    return Self.totals(try db.rows(statement, row: Self.reason))
  }

  private static let isOfJob = "EXISTS (SELECT 1 FROM batch j WHERE j.id = f.batch_id AND j.job = ?101)"

  private typealias Removals = (isKept: Bool, isPutOff: Bool, code: String?, message: String?, sources: Int)

  private static func reason(_ row: SQLRow) -> Removals {
    (row.flag(0), row.flag(1), row.textOrNil(2), row.textOrNil(3), row.int(4))
  }

  private static func totals(_ rows: [Removals]) -> RemovalTotals {
    var totals = RemovalTotals()
    for row in rows {
      if row.isKept { totals.kept += row.sources } else { totals.waiting += row.sources }
      if row.isPutOff { totals.putOff += row.sources }
      guard let code = row.code else { continue }
      totals.reasons.append(
        RemovalTotals.Reason(isKept: row.isKept, code: code, message: row.message ?? "", sources: row.sources))
    }
    totals.reasons.sort { ($1.sources, $0.code) < ($0.sources, $1.code) }
    return totals
  }

  static let removalsByReason: StaticString = """
    SELECT 0, m.put_off_at IS NOT NULL, m.cause, max(m.message), count(*)
    FROM removal m CROSS JOIN file f ON f.id = m.file_id
    WHERE m.state = 'pending' AND {files} GROUP BY 2, 3
    UNION ALL SELECT 1, 0, m.cause, max(m.message), count(*)
    FROM removal m CROSS JOIN file f ON f.id = m.file_id
    WHERE (m.state = 'skipped' OR m.state = 'failed') AND m.cause <> 'policy.cancelled'
      AND NOT (m.state = 'skipped' AND m.cause = 'source.missing') AND m.ended_at >= ?1
      AND NOT (m.cause = 'source.changed' AND EXISTS (SELECT 1 FROM batch b WHERE b.id = f.batch_id AND b.job IS NOT NULL))
      AND f.hidden IS NULL AND f.live = 1 AND {files} GROUP BY m.cause
    """
}

/// What another batch will do with sources of a batch.
public struct OtherFate: Sendable, Hashable {
  public var batch: BatchID
  public var removal: SourceRemoval
  public var sources: Int
}

extension LedgerReader {
  /// Other batches that will delete or move sources of this batch in a different way. Reads the files of the batch if
  /// the batch removes its sources itself.
  public func otherFates(of batch: BatchID) throws -> [OtherFate] {
    guard let own = try batchSettings(batch)?.after else { return [] }
    return try db.rows(Self.otherRemovers, .id(batch)) { ($0.id(0, BatchID.self), $0.int(1)) }.compactMap {
      other, sources in
      guard let removal = try batchSettings(other)?.after,
        removal.action != own.action || removal.folder != own.folder || removal.base != own.base && own.action == .move
      else { return nil }
      return OtherFate(batch: other, removal: removal, sources: sources)
    }
  }

  static let otherRemovers: StaticString = """
    SELECT other, count(*) FROM (
      SELECT f.id, o.batch_id AS other FROM file f CROSS JOIN file o ON o.path = f.path
      WHERE f.batch_id = ?1 AND o.finished_at IS NULL AND o.is_download IS NULL AND o.batch_id <> ?1
      UNION SELECT f.id, o.batch_id FROM file f CROSS JOIN removal w ON w.inode = f.inode
        AND w.state <> 'done' AND w.state = 'pending' CROSS JOIN file o ON o.id = w.file_id AND o.path = f.path
      WHERE f.batch_id = ?1 AND o.batch_id <> ?1)
    WHERE EXISTS (SELECT 1 FROM batch v WHERE v.id = other AND v.after IS NOT NULL) GROUP BY other ORDER BY other
    """
}
