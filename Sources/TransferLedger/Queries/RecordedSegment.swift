public import TransferModel

/// A segment of a growing file, as it was recorded.
public struct RecordedSegment: Sendable, Hashable {
  /// Its place in the growing file.
  package var range: ByteRange
  /// SHA-256 of its bytes.
  public var digest: Digest
  /// Where the growing file was seen last, and where it was when the segment was recorded.
  public var paths: [NameBytes]
}

extension LedgerReader {
  /// What was recorded of a file that is a segment; nil for other files.
  public func recordedSegment(_ file: FileID) throws -> RecordedSegment? {
    try db.first(Self.recordedSegment, .id(file)) { row in
      guard let digest = row.digest(2) else { return nil }
      let paths = row.name(3) == row.name(4) ? [row.name(3)] : [row.name(3), row.name(4)]
      return RecordedSegment(
        range: ByteRange(offset: row.int64(0), length: row.int64(1)), digest: digest, paths: paths)
    } ?? nil
  }

  static let recordedSegment: StaticString = """
    SELECT g.start, f.size, g.digest, s.path, f.path FROM segment g CROSS JOIN file f ON f.id = g.file_id
    CROSS JOIN series s ON s.id = g.series_id WHERE g.file_id = ?
    """
}
