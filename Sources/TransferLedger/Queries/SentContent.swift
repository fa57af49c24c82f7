public import TransferModel

/// What is known about the content of a file from the data that was sent.
public struct SentContent: Sendable, Hashable {
  public struct Piece: Sendable, Hashable {
    package var range: ByteRange
    public var digest: Digest

    package init(range: ByteRange, digest: Digest) {
      self.range = range
      self.digest = digest
    }
  }

  /// In no particular order; they may overlap.
  public var pieces: [Piece] = []
  /// Ranges that the server acknowledged: the whole file if it is done.
  package var acked: [ByteRange] = []

  public init() {}

  /// Whether the pieces cover every byte that the server acknowledged, so that reading the file shows whether it still
  /// holds what was sent.
  public var isCovered: Bool { acked.allSatisfy(isCovered) }

  private func isCovered(_ range: ByteRange) -> Bool {
    var reached = range.offset
    for piece in pieces.map(\.range).sorted(by: { $0.offset < $1.offset }) where piece.offset <= reached {
      reached = max(reached, piece.end)
    }
    return reached >= range.end
  }
}

extension LedgerReader {
  /// Digests of all data of a file that was sent and arrived, or may have arrived. The cost grows with the chunks and
  /// attempts of the file.
  public func sentContent(of file: FileID) throws -> SentContent {
    let known = try db.first(Self.doneContent, .id(file)) { row in
      (size: row.int64(0), isDone: row.flag(1), digest: row.digest(2))
    }
    guard let known else { return SentContent() }
    var content = try contentOfChunks(file)
    let whole = ByteRange(offset: 0, length: known.size)
    if known.isDone { content.acked = [whole] }
    if known.isDone && content.isCovered { return content }
    content.pieces += try bodies(of: file)
    if known.isDone, !content.isCovered, let digest = known.digest {
      content.pieces.append(SentContent.Piece(range: whole, digest: digest))
    }
    return content
  }

  private func contentOfChunks(_ file: FileID) throws -> SentContent {
    var content = SentContent()
    let chunks = try db.rows(Self.chunkContent, .id(file)) { row in
      (range: ByteRange(offset: row.int64(0), length: row.int64(1)), acked: row.int64(2), digest: row.digest(3))
    }
    for chunk in chunks {
      if let digest = chunk.digest { content.pieces.append(SentContent.Piece(range: chunk.range, digest: digest)) }
      if chunk.acked > 0 { content.acked.append(ByteRange(offset: chunk.range.offset, length: chunk.acked)) }
    }
    return content
  }

  private func bodies(of file: FileID) throws -> [SentContent.Piece] {
    try db.rows(Self.sentBodies, .id(file)) { row in
      row.digest(2).map { SentContent.Piece(range: ByteRange(offset: row.int64(0), length: row.int64(1)), digest: $0) }
    }.compactMap(\.self)
  }

  private static let doneContent: StaticString = """
    SELECT coalesce(f.size, 0), f.state = 'done', r.digest FROM file f LEFT JOIN receipt r ON r.file_id = f.id AND r.n = 1 WHERE f.id = ?
    """
  private static let chunkContent: StaticString = """
    SELECT offset, length, iif(state = 'done', length, acked), digest FROM chunk WHERE file_id = ? ORDER BY seq
    """
  private static let sentBodies: StaticString = """
    SELECT b.offset, b.length, b.digest FROM attempt a CROSS JOIN sent_body b ON b.attempt_id = a.id WHERE a.file_id = ?
    """
}
