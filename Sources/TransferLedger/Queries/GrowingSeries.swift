public import TransferModel

/// The recorded part of a growing file, and how to recognise the file.
public struct GrowingSeries: Sendable, Hashable {
  /// Length of the beginning of a file that is compared, besides the newest segment.
  public static let headLength: Int64 = 64 << 10

  public var id: Int64
  /// The key that the whole file would have.
  public var key: NameBytes
  public var number: Int
  /// Where the file was seen last.
  public var path: NameBytes
  /// Where the newest segment begins.
  public var start: Int64
  /// The file when it was seen with exactly the recorded bytes: its size is where the series ends.
  package var identity: SourceIdentity
  /// Birth time of the file in nanoseconds since 1970 UTC; nil if it is unknown.
  public var bornNs: Int64?
  /// SHA-256 of the newest segment.
  public var digest: Digest
  /// SHA-256 of the first ``headLength`` bytes, or of all.
  public var head: Digest

  public var end: Int64 { identity.size }

  /// Whether a file with this identity, birth time and path may be the same file: an inode is used again soon after its
  /// file was deleted. Without birth times the path is compared, or the device within one boot: a file that keeps its
  /// path gets another device when its file system is mounted again (NFS, FUSE, autofs). The content decides then.
  package func mayBe(_ now: SourceIdentity, bornNs other: Int64?, at path: NameBytes) -> Bool {
    guard identity.inode == now.inode else { return false }
    if let bornNs, let other { return bornNs == other }
    return self.path == path || identity.device == now.device || identity.boot != now.boot
  }

  /// The content that a file must still have to be the same file with data appended.
  public var content: SentContent {
    var content = SentContent()
    content.pieces = [
      SentContent.Piece(range: ByteRange(offset: 0, length: min(end, Self.headLength)), digest: head),
      SentContent.Piece(range: ByteRange(offset: start, length: end - start), digest: digest),
    ]
    return content
  }

  /// The key of the segment that begins at `start`. The widths are fixed, so that the keys of a file sort in the order
  /// of their content, and those of different files are never the same.
  /// nil if the widths do not suffice.
  public static func key(_ key: NameBytes, number: Int, start: Int64) -> NameBytes? {
    guard number < 10_000_000_000_000, start < 1_000_000_000_000_000 else { return nil }
    return NameBytes(key.bytes + [0x2E] + digits(Int64(number), 13) + [0x2E] + digits(start, 15))
  }

  /// Whether a key has the form of ``key(_:number:start:)``: a dot before 13 digits, and one before the last 15.
  static func mayBeSegment(_ key: UnsafeRawBufferPointer) -> Bool {
    guard key.count > 30 else { return false }
    return key.suffix(30).enumerated().allSatisfy { n, byte in
      n == 0 || n == 14 ? byte == 0x2E : (0x30...0x39).contains(byte)
    }
  }

  /// The number of the series of a key that follows number `last`: the time at which it begins, in milliseconds since
  /// 1970 UTC, so that ledgers that know nothing of each other (another host, a lost ledger) use different keys.
  public static func number(after last: Int, nowMs: Int64) -> Int { max(last + 1, Int(clamping: nowMs)) }

  private static func digits(_ value: Int64, _ width: Int) -> [UInt8] {
    let text = Array("\(value)".utf8)
    return Array(repeating: 0x30, count: max(0, width - text.count)) + text
  }
}

/// What the ledger knows of a growing source.
public struct KnownGrowth: Sendable, Hashable {
  /// Series of files with its inode, the likeliest first: the path does not count, because a log is renamed when it is
  /// rotated.
  public var candidates: [GrowingSeries] = []
  /// The number of the newest series of its key; 0 for none.
  public var number = 0

  public init() {}
}

extension LedgerReader {
  /// Series that the file with this identity may continue, and the newest one of its key.
  package func growth(
    of key: NameBytes, _ identity: SourceIdentity, in batch: NewBatch
  ) throws -> KnownGrowth {
    guard let home = try db.destination(at: batch.canonicalPlace) else { return KnownGrowth() }
    let candidates = try db.rows(
      Self.seriesOfSource, .integer(home), .bits(identity.inode), .bits(identity.device)
    ) { row in GrowingSeries(row) }
    var known = KnownGrowth()
    // The same file may go to several folders of one place.
    known.candidates = candidates.compactMap(\.self).filter { $0.key.folder == key.folder }
    known.number = try db.newestSeries(home, key)
    return known
  }

  /// The same for the files of an `add`.
  package func growth(
    of key: NameBytes, _ identity: SourceIdentity, for target: AdmissionTarget
  ) throws -> KnownGrowth { try growth(of: key, identity, in: target.batch) }

  /// Whether a series cannot continue, because the key of its next segment belongs to a file that is not a segment.
  public func isStopped(_ series: GrowingSeries, for target: AdmissionTarget) throws -> Bool {
    guard let home = try db.destination(at: target.batch.canonicalPlace),
      let key = GrowingSeries.key(series.key, number: series.number, start: series.end)
    else { return false }
    return try db.first(SegmentAdmitter.liveQuery, .integer(home), .name(key)) { _ in true } != nil
  }

  /// A file that was often truncated has many series; an older one cannot be continued any more in practice.
  static let seriesOfSource: StaticString = """
    SELECT id, key, path, start, size, mtime_ns, ctime_ns, inode, device, boot, digest, head, number, born_ns FROM series
    WHERE destination_id = ?1 AND inode = ?2 ORDER BY device = ?3 DESC, id DESC LIMIT 64
    """
}

extension NameBytes {
  /// Everything before the last component, with its slash.
  fileprivate var folder: ArraySlice<UInt8> { bytes[..<(bytes.lastIndex(of: 0x2F).map { $0 + 1 } ?? 0)] }
}

extension Connection {
  func newestSeries(_ destination: Int64, _ key: NameBytes) throws(SQLiteError) -> Int {
    let query: StaticString = "SELECT max(number) FROM series WHERE destination_id = ? AND key = ?"
    return try first(query, .integer(destination), .name(key)) { $0.intOrNil(0) ?? 0 } ?? 0
  }
}

extension GrowingSeries {
  /// - Parameter row: of ``LedgerReader/seriesOfSource``.
  fileprivate init?(_ row: SQLRow) {
    guard let digest = row.digest(10), let head = row.digest(11) else { return nil }
    self.init(
      id: row.int64(0), key: row.name(1), number: row.int(12), path: row.name(2), start: row.int64(3),
      identity: row.identity(from: 4), bornNs: row.int64OrNil(13), digest: digest, head: head)
  }
}
