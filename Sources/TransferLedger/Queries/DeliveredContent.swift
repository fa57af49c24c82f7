public import TransferModel

/// A file that has delivered some content, and is the current generation of its key.
public struct DeliveredFile: Sendable, Hashable {
  public var id: FileID
  public var key: NameBytes
  /// SHA-256 of the content.
  public var digest: Digest

  /// Why a file with the same content is not sent.
  public var reason: String { "not sent: \(id) has delivered the same content under the key \"\(key.embedded)\"" }
}

extension LedgerReader {
  /// At most ten files of the same size that have delivered content with this SHA-256 to the destination of `file`, as
  /// its batch names it. None if the key of `file` had an earlier generation that was not a duplicate: the object of
  /// that generation may exist on the server, and would stay there. Uses the index `content_sent`.
  public func delivered(_ digest: Digest, like file: FileID) throws -> [DeliveredFile] {
    let found = try db.rows(Self.deliveredContent, .id(file), .digest(digest)) { row in
      DeliveredFile(id: row.id(0), key: row.name(1), digest: digest)
    }
    return try found.filter { try !isOverwritten($0.id) }
  }

  /// Whether the file that had delivered the content of `duplicate` is still the current generation of its key, and its
  /// object still exists unchanged, as far as is known.
  func isStillDelivered(_ duplicate: FileID) throws -> Bool {
    let original = try db.first(Self.standingOriginal, .id(duplicate)) { $0.id(0, FileID.self) }
    return try original.map { try !isOverwritten($0) } ?? false
  }

  static let deliveredContent: StaticString = """
    SELECT o.id, o.key FROM file f CROSS JOIN batch b ON b.id = f.batch_id CROSS JOIN content c
      CROSS JOIN file o ON o.id = c.file_id CROSS JOIN batch s ON s.id = o.batch_id AND s.destination = b.destination
    WHERE f.id = ?1 AND c.digest = ?2 AND c.same_as IS NULL
      AND o.destination_id = f.destination_id AND o.size = f.size AND o.state = 'done' AND o.live = 1
      AND NOT EXISTS (SELECT 1 FROM file p
        WHERE p.destination_id = f.destination_id AND p.key = f.key AND p.live IS NULL
          AND p.cause IS NOT 'policy.duplicate')
      AND coalesce((SELECT r.finding FROM receipt r
        WHERE r.file_id = o.id AND (r.finding = 'found' OR r.finding = 'lost' OR r.finding = 'differs')
        ORDER BY r.n DESC LIMIT 1), 'found') = 'found'
    ORDER BY o.id LIMIT 10
    """
  static let standingOriginal: StaticString = """
    SELECT o.id FROM content c CROSS JOIN file o ON o.id = c.same_as
    WHERE c.file_id = ?1 AND o.state = 'done' AND o.live = 1
      AND coalesce((SELECT r.finding FROM receipt r
        WHERE r.file_id = o.id AND (r.finding = 'found' OR r.finding = 'lost' OR r.finding = 'differs')
        ORDER BY r.n DESC LIMIT 1), 'found') = 'found'
    """
}
