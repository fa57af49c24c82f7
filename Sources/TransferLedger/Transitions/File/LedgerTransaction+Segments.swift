public import TransferModel

/// A growing source as it was examined, and what is to be recorded of it.
public struct GrowingSource: Sendable {
  public enum Finding: Sendable {
    /// Nothing to record: an empty file without a series.
    case empty
    /// It ends where this series ends.
    case unchanged(GrowingSeries)
    /// More bytes than this series has.
    case grown(after: GrowingSeries, Segment)
    /// The beginning of the next series of its key.
    case begun(after: Int, Beginning, Segment)
  }

  /// Why a series begins.
  public enum Beginning: String, Sendable, Hashable {
    /// No file was sent with this key.
    case first
    case truncated
    case rewritten
    /// Another file has the name now.
    case replaced
    /// The next segment of its series would have the key of a file that is not a segment.
    case stopped = "stopped by another file with the key of its next segment"
  }

  /// The copy of a segment, which is durable.
  public struct Segment: Sendable {
    public var start: Int64
    /// SHA-256 of the copy.
    public var digest: Digest
    /// ``GrowingSeries/head`` with this segment.
    public var head: Digest
    /// The name of the copy.
    public var staged: String

    public init(start: Int64, digest: Digest, head: Digest, staged: String) {
      (self.start, self.digest, self.head, self.staged) = (start, digest, head, staged)
    }
  }

  public var path: NameBytes
  /// The key that the whole file would have.
  public var key: NameBytes
  /// When it was examined: its size is where the segment ends.
  package var identity: SourceIdentity
  /// Its birth time in nanoseconds since 1970 UTC; nil if it is unknown or was not looked at.
  public var bornNs: Int64?
  public var mode: UInt32
  package var properties: ObjectProperties
  /// See ``NewFile/root``.
  package var root: Int?
  public var finding: Finding

  package init(
    path: NameBytes, key: NameBytes, _ identity: SourceIdentity, mode: UInt32 = 0,
    properties: ObjectProperties = ObjectProperties(), root: Int? = nil, _ finding: Finding
  ) {
    (self.path, self.key, self.identity, self.mode) = (path, key, identity, mode)
    (self.properties, self.root, self.finding) = (properties, root, finding)
  }

  public var segment: Segment? {
    switch finding {
    case .empty, .unchanged: nil
    case .grown(_, let segment), .begun(_, _, let segment): segment
    }
  }
}

extension LedgerTransaction {
  /// Records the segments of growing sources, each as a pending file with its staged copy, and the new ends of their
  /// series. Segments that wait, or failed and are retried, count as files of this `add`. `busy` are those whose series
  /// another process has continued meanwhile, and `taken` those whose segment would have the key of another file: their
  /// copies are not needed.
  public func admit(_ sources: [GrowingSource], to target: AdmissionTarget) throws -> PageAdmission {
    var admitter = try SegmentAdmitter(self, target, batch: try batch(of: target))
    for (index, source) in sources.enumerated() { try admitter.admit(source, index) }
    return try admitter.finish()
  }

  /// The state of a series after its next segment, or after another look at the file. `.lost` if it has another end
  /// than `series`.
  func extend(_ series: GrowingSeries, _ source: GrowingSource) throws -> TransitionResult {
    let (segment, now) = (source.segment, source.identity)
    let changes = try db.run(
      """
      UPDATE series SET path = ?3, start = ?4, size = ?5, digest = ?6, head = ?7, mtime_ns = ?8, ctime_ns = ?9,
        inode = ?10, device = ?11, boot = ?12, born_ns = coalesce(born_ns, ?14),
        grown_at = iif(size = ?5, grown_at, ?13)
      WHERE id = ?1 AND size = ?2
      """, .integer(series.id), .integer(series.end), .name(source.path), .integer(segment?.start ?? series.start),
      .int(now.size), .text((segment?.digest ?? series.digest).description),
      .text((segment?.head ?? series.head).description), .int(now.mtimeNs), .int(now.ctimeNs), .bits(now.inode),
      .bits(now.device), .bits(now.boot), .int(wallMs), .int(source.bornNs))
    return try result(changes) {
      try db.first("SELECT size FROM series WHERE id = ?", .integer(series.id)) { $0.text(0) }
    }
  }

  /// - Returns: the number of the row.
  func beginSeries(
    _ source: GrowingSource, _ segment: GrowingSource.Segment, _ number: Int, at destination: Int64
  ) throws -> Int64 {
    let now = source.identity
    return try db.insert(
      """
      INSERT INTO series (destination_id, key, number, path, start, size, digest, head, mtime_ns, ctime_ns, inode,
        device, boot, born_ns, began_at, grown_at)
      VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?14, ?13, ?13)
      """, .integer(destination), .name(source.key), .int(number), .name(source.path), .int(now.size),
      .text(segment.digest.description), .text(segment.head.description), .int(now.mtimeNs), .int(now.ctimeNs),
      .bits(now.inode), .bits(now.device), .bits(now.boot), .int(wallMs), .int(source.bornNs))
  }
}
