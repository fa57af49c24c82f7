public import TransferModel
public import TransferProtocols

/// What a destination has by a list that was made there: an S3 Inventory, or any manifest. Blocking to read; afterwards
/// any thread may ask.
///
/// Memory: 32 bytes for each listed object below the destination, and its digest. It keeps hashes of 64 bits, not keys:
/// a file is left out only if size and evidence are those of the object, too.
public final class KnownObjects: Sendable {
  /// An object whose size is that of a file with the same key.
  struct Match: Hashable {
    /// nil if the size was to suffice.
    var digest: Digest?
  }

  private struct Row {
    var hash: UInt64
    var size: Int64
    /// The position of its digest; -1 for none.
    var start: Int
    var algorithm: DigestAlgorithm
  }

  /// For people: the list, and when it was made, if it says.
  let origin: String
  /// Equal sizes suffice.
  let trustsSizes: Bool
  private let rows: [Row]
  private let digests: [UInt8]

  /// - Parameters:
  ///   - path: the list. The keys of an inventory are those of the bucket; the paths of other manifests are relative to
  ///     the destination.
  ///   - trustsSizes: whether an equal size suffices; otherwise an equal MD5, SHA-1, SHA-256 or SHA-512 is required.
  /// - Throws: `.noSource`, `.badList` for a list that cannot be read; `.usage` for an inventory of another bucket.
  public init(
    _ path: NameBytes, of destination: Destination, trustsSizes: Bool, notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) {
    var rows: [Row] = []
    var digests: [UInt8] = []
    func add(_ key: NameBytes, _ size: Int64?, _ found: [Digest]) {
      guard let size, key.bytes.starts(with: destination.listedPrefix) else { return }
      let digest = trustsSizes ? nil : found.first { Self.proving.contains($0.algorithm) }
      guard trustsSizes || digest != nil else { return }
      let start = digest == nil ? -1 : digests.count
      digests += digest?.bytes ?? []
      rows.append(
        Row(hash: key.bytes.withUnsafeBytes(Self.hash), size: size, start: start, algorithm: digest?.algorithm ?? .md5))
    }
    let lists = ListedDownloads(path, nil, base: nil, notice: notice)
    let inventory = try lists.readObjects { key, isWhole, size, found throws(TransferError) in
      add(isWhole ? key : destination.key(forRelativePath: key, isSingleFile: false), size, found)
    }
    if let inventory { try Self.check(inventory, destination, path) }
    rows.sort { $0.hash < $1.hash }
    (self.rows, self.digests, self.trustsSizes) = (rows, digests, trustsSizes)
    origin = path.embedded + (inventory?.createdMs.map { " of \(CivilTime(wallMs: $0).rfc3339)" } ?? "")
  }

  /// Algorithms whose equal value shows equal content.
  private static let proving: Set<DigestAlgorithm> = [.md5, .sha1, .sha256, .sha512]

  private static func check(
    _ inventory: S3Inventory, _ destination: Destination, _ path: NameBytes
  ) throws(TransferError) {
    if case .bucket(inventory.bucket) = destination.place { return }
    let other =
      if case .bucket(let bucket) = destination.place { "bucket \"\(NameBytes(bucket).embedded)\"" } else {
        "no bucket"
      }
    throw TransferError(
      .usage, "read --known-at", path,
      cause: "it lists bucket \"\(NameBytes(inventory.bucket).embedded)\", and the destination is \(other)",
      remedy: "give the inventory of the destination")
  }

  private static func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(bytes: key)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// nil if no object has this key and size, or several rows disagree.
  func match(_ key: UnsafeRawBufferPointer, size: Int64) -> Match? {
    let hash = Self.hash(key)
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].hash < hash { low = middle + 1 } else { high = middle }
    }
    var found: Match?
    for row in rows[low...].prefix(while: { $0.hash == hash }) {
      let match = Match(digest: row.start < 0 ? nil : digest(row))
      guard row.size == size, found == nil || found == match else { return nil }
      found = match
    }
    return found
  }

  private func digest(_ row: Row) -> Digest {
    Digest(row.algorithm, Array(digests[row.start..<row.start + row.algorithm.byteCount]))
  }
}

extension Destination {
  /// What the keys of all its files begin with.
  fileprivate var listedPrefix: [UInt8] { key(forRelativePath: NameBytes(""), isSingleFile: true).bytes }
}

/// How one destination leaves out files that it has already.
public struct KnownFilter: Sendable {
  let objects: KnownObjects
  /// Whether the ledger has never sent the file with this path to this key.
  let isNew: @Sendable (NameBytes, NameBytes, SourceIdentity) throws(TransferError) -> Bool

  package init(
    _ objects: KnownObjects,
    isNew: @escaping @Sendable (NameBytes, NameBytes, SourceIdentity) throws(TransferError) -> Bool
  ) {
    (self.objects, self.isNew) = (objects, isNew)
  }

  /// Reads the file if its digest decides. One that cannot be read, or changes meanwhile, is not known.
  func isThere(
    _ path: NameBytes, root: Int, _ key: BorrowedName, _ identity: SourceIdentity
  ) throws(TransferError) -> Bool {
    guard let match = objects.match(key, size: identity.size),
      try isNew(path, NameBytes(Array(key)), identity)
    else { return false }
    guard let digest = match.digest else { return true }
    do throws(Failure) {
      let file = try SourceFile(path: path, root: root)
      let whole = ByteRange(offset: 0, length: identity.size)
      guard identity.relation(to: file.identity) == .same else { return false }
      let found = try file.digests(of: whole, [digest.algorithm], .never)
      let now = try file.currentIdentity()
      return found[digest.algorithm] == digest && identity.relation(to: now) == .same
    } catch {
      return false
    }
  }
}

/// Passes on the files that the destination does not have.
final class KnownSink<Inner: FileSink>: FileSink {
  let inner: Inner
  private let filter: KnownFilter?
  private let notice: @Sendable (Notice) -> Void
  private var counts = SourceCounts()

  init(_ inner: Inner, _ filter: KnownFilter?, notice: @escaping @Sendable (Notice) -> Void) {
    (self.inner, self.filter, self.notice) = (inner, filter, notice)
  }

  func take(_ found: FoundFile) throws(TransferError) {
    guard let filter, case let name = NameBytes(Array(found.path)),
      try filter.isThere(name, root: found.root, found.key, found.identity)
    else { return try inner.take(found) }
    counts.known += 1
    notice(.excluded(path: name, rule: "at the destination already"))
  }

  func refuse(path: NameBytes, key: NameBytes, _ failure: Failure) throws(TransferError) {
    try inner.refuse(path: path, key: key, failure)
  }

  /// Adds the files that were left out to the counts of the scan, and says why.
  func seen(_ scan: SourceCounts) -> SourceCounts {
    var seen = scan
    seen.known += counts.known
    if let filter, counts.known > 0 {
      let equal = filter.objects.trustsSizes ? "the same size" : "the same size and digest"
      notice(
        .remark(
          "not sent: \(counts.known == 1 ? "1 file" : "\(counts.known) files") that the destination has already, with "
            + "\(equal), by \(filter.objects.origin)"))
    }
    return seen
  }
}

extension KnownSink: RecordingSink where Inner: RecordingSink {
  func finish(with scan: SourceCounts) throws(TransferError) -> SourceAdmitter.Recorded {
    try inner.finish(with: seen(scan))
  }
}
