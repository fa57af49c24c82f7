import TransferModel

extension LedgerReader {
  /// What servers accepted, according to the receipts of the done files and the attempts that the filter selects, by
  /// host and then by what. Deleted attempts are not included.
  package func hostAcceptance(_ filter: RowFilter) throws -> [HostAcceptanceRow] {
    let hosts = try hosts()
    var found: [Place: HostAcceptanceRow] = [:]
    for statement in [Self.confirmed, Self.ranged, Self.resumed] {
      _ = try db.rows(statement, filter) { row in
        let place = Place(host: hosts.host(of: row.int64(0), mirror: row.textOrNil(5)), accepted: row.text(1))
        let (times, firstMs, lastMs) = (row.int64(2), row.int64(3), row.int64(4))
        var sum =
          found[place]
          ?? HostAcceptanceRow(
            host: place.host, accepted: place.accepted, times: 0, firstMs: firstMs, lastMs: lastMs)
        sum.times +|= times
        (sum.firstMs, sum.lastMs) = (min(sum.firstMs, firstMs), max(sum.lastMs, lastMs))
        found[place] = sum
      }
    }
    return found.values.sorted { ($0.host, $0.accepted) < ($1.host, $1.accepted) }
  }

  private struct Place: Hashable {
    let host, accepted: String
  }

  /// The proof of each done upload. A server that checks each body against the digest sent with it, as tus does, names
  /// none of its own. A download is compared with digests on this side: its server confirms nothing.
  static let confirmed: StaticString = """
    SELECT f.batch_id, iif(r.confirmation = 'digest',
        'checksum:' || substr(coalesce(r.remote_digest, r.digest), 1, instr(coalesce(r.remote_digest, r.digest), ':') - 1), r.confirmation) AS accepted,
      count(*), min(r.recorded_at), max(r.recorded_at), NULL
    FROM file f CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1
    WHERE {files} AND f.state = 'done' AND f.is_download IS NULL AND r.confirmation <> 'none'
      AND (r.confirmation <> 'digest' OR coalesce(r.remote_digest, r.digest) IS NOT NULL)
    GROUP BY f.batch_id, accepted
    """
  static let ranged: StaticString = """
    SELECT f.batch_id, 'ranges', count(*), min(a.started_at), max(a.ended_at), a.mirror
    FROM attempt a CROSS JOIN file f ON f.id = a.file_id
    WHERE a.http_status = 206 AND a.outcome = 'ok' AND a.bytes_transferred > 0 AND {attempts}
    GROUP BY f.batch_id, a.mirror
    """
  /// Only repeated requests are looked at.
  static let resumed: StaticString = """
    SELECT f.batch_id, 'resumption', count(*), min(a.started_at), max(a.ended_at), a.mirror
    FROM attempt a CROSS JOIN file f ON f.id = a.file_id
    WHERE a.operation = 'part' AND a.n > 1 AND a.bytes_acked > 0 AND a.ended_at IS NOT NULL
      AND EXISTS (SELECT 1 FROM attempt p WHERE p.file_id = a.file_id AND p.chunk_id = a.chunk_id AND p.operation = 'part'
        AND p.id < a.id AND p.bytes_acked > 0)
      AND NOT EXISTS (SELECT 1 FROM attempt p WHERE p.file_id = a.file_id AND p.chunk_id = a.chunk_id
        AND p.operation = 'part' AND p.id > a.id AND p.bytes_acked > 0)
      AND {attempts}
    GROUP BY f.batch_id, a.mirror
    """
}
