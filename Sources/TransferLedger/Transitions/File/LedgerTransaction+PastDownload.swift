import TransferModel

extension LedgerTransaction {
  /// The newest done download to the path of `file`, if it came from the same URL; otherwise nil. The first generation
  /// of a file has no earlier download.
  func pastDownload(of file: ClaimedFile) throws -> PastDownload? {
    guard file.direction == .download, file.generation > 1 else { return nil }
    let found = try db.first(Self.pastDownload, .name(file.path), .id(file.id)) { row throws(SQLiteError) in
      try Self.past(row)
    }
    return found ?? nil
  }

  private static func past(_ row: SQLRow) throws(SQLiteError) -> PastDownload? {
    guard let session = row.textOrNil(9), let chunkSize = row.int64OrNil(7) else { return nil }
    let identity = row.identity(from: 1)
    var proof = FileProof(
      confirmation: try row.named(12), digest: row.digest(13), remoteDigest: row.digest(14), etag: row.text(15),
      versionID: row.text(16))
    (proof.requestID, proof.serverDate) = (row.text(17), row.text(18))
    return PastDownload(
      id: row.id(0), identity: identity,
      session: SessionFacts(remoteID: session, intendedAtMs: row.int64(10), notes: storedValues(row.textOrNil(11))),
      layout: ChunkLayout(size: identity.size, chunkSize: chunkSize, count: row.int(8)), proof: proof,
      expected: storedExpectation(row.textOrNil(19)), isSuspect: row.flag(20))
  }

  /// A receipt that a person recorded (`resolve`) proves nothing about the content.
  static let pastDownload: StaticString = """
    SELECT f.id, f.size, f.mtime_ns, f.ctime_ns, f.inode, f.device, f.boot, f.chunk_size, f.chunk_count, s.remote_id,
      s.intended_at, s.notes, r.confirmation, r.digest, r.remote_digest, r.etag, r.version_id, r.request_id,
      r.server_date, f.expected, coalesce((SELECT finding <> 'intact' FROM receipt
        WHERE file_id = f.id AND finding IN ('intact', 'changed', 'missing') ORDER BY n DESC LIMIT 1), 0)
    FROM (SELECT * FROM file WHERE path = ?1 AND is_download = 1 AND state = 'done' ORDER BY id DESC LIMIT 1) f
      CROSS JOIN file n ON n.id = ?2 AND n.destination_id = f.destination_id AND n.key = f.key
      CROSS JOIN receipt r ON r.file_id = f.id AND r.n = 1 AND r.note IS NULL
      LEFT JOIN session s ON s.id = (SELECT max(id) FROM session WHERE file_id = f.id AND state = 'completed')
    """
}
