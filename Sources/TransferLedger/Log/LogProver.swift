import TransferLog
import TransferModel

/// Proves that receipts are in the log as it was when it was sealed. Used by one thread at a time.
public final class LogProver {
  package let seal: LedgerSeal
  private let head: TreeHash
  /// The tree of the whole log, which may have grown since the seal.
  private let tree: TileTree
  /// The positions of the receipts in the log, sorted by file and number.
  private let receipts: [Place]
  /// nil for an earlier seal, which is not signed again.
  private let key: SigningKey?
  private let shard: ShardNumber

  struct Place {
    let file, n, leaf: Int64
  }

  /// - Parameter shard: the shard of the log.
  init(
    _ seal: LedgerSeal, _ head: TreeHash, _ tree: TileTree, _ receipts: [Place], key: SigningKey? = nil,
    shard: ShardNumber = .own
  ) {
    (self.seal, self.head, self.tree, self.key, self.shard) = (seal, head, tree, key, shard)
    self.receipts = receipts.sorted { ($0.file, $0.n) < ($1.file, $1.n) }
  }

  /// nil for a receipt that was recorded after the seal. Throws `.storeCorrupt` if the row differs from what was
  /// logged.
  fileprivate func proof(of stored: StoredReceipt, _ reader: LedgerReader, _ encoder: LeafEncoder) throws
    -> ProvenReceipt?
  {
    let (file, n) = (stored.file.rawValue, stored.number)
    guard let index = leaf(of: n, of: file), let bytes = try encoder.bytes(.receipt(file: file, n: n)) else {
      return nil
    }
    let path = try look(reader) { try tree.inclusion(of: index, in: seal.leaves) }
    let isProven = ProofCheck.includes(TreeHasher().leaf(bytes), at: index, in: seal.leaves, head: head, path: path)
    guard isProven else { throw reader.damagedLog("receipt \(n) of \(stored.file) is not what was logged") }
    let proof = InclusionProof(index: index, path: path, note: seal.note)
    return ProvenReceipt(stored, index: index, leaf: bytes, proof: proof.description)
  }

  /// The text before and after the payload of a DSSE envelope in JSON about this log, signed with its key. `signed`
  /// supplies the bytes to be signed, which begin with ``opening(_:type:)``.
  public func envelope(
    type: String, _ signed: ((UnsafeRawBufferPointer) -> Void) throws -> Void
  ) throws -> (before: String, behind: String) {
    guard let key else { throw TransferError(.bug, "sign a statement", cause: "an earlier seal has no key") }
    var frame: (before: String, behind: String)?
    try signed { frame = SignedEnvelope.frame(signing: $0, type: type, with: key) }
    guard let frame else { throw TransferError(.bug, "sign a statement", cause: "no bytes were supplied") }
    return frame
  }

  /// The beginning of the bytes that DSSE signs, before a payload of `length` bytes.
  public static func opening(_ length: Int, type: String) -> [UInt8] { SignedEnvelope.opening(length, type) }

  func consistency(from old: Checkpoint, _ reader: LedgerReader) throws -> SealConsistency {
    try look(reader) {
      let proof = try tree.consistency(from: old.size, to: seal.leaves)
      guard ProofCheck.isConsistent(old.size, old.head, seal.leaves, head, proof: proof) else {
        throw reader.damagedLog("its first \(old.size) leaves changed meanwhile")
      }
      return SealConsistency(from: old.size, proof: proof.map { base64($0.bytes) })
    }
  }

  private func leaf(of n: Int64, of file: Int64) -> Int64? {
    var (low, high) = (0, receipts.count)
    while low < high {
      let middle = (low + high) / 2
      if (receipts[middle].file, receipts[middle].n) < (file, n) { low = middle + 1 } else { high = middle }
    }
    guard low < receipts.count, receipts[low].file == file, receipts[low].n == n else { return nil }
    return receipts[low].leaf
  }

  /// Existing leaves never change, so they may be read in another snapshot.
  private func look<T>(_ reader: LedgerReader, _ body: () throws -> T) throws -> T {
    try tree.reading({ [size = tree.size, shard] in try reader.logTile($0, of: size, shard) }, body)
  }
}

extension LedgerReader {
  func receiptPlaces(below size: Int64, _ shard: ShardNumber = .own) throws -> [LogProver.Place] {
    var places: [LogProver.Place] = []
    try forEachLogGroup(shard) { group in
      guard let entries = LogEntry.all(group.entries) else { throw damagedLog("leaf \(group.first) cannot be read") }
      for (leaf, entry) in zip(group.first..., entries) where leaf < size {
        if case .receipt(let file, let n) = entry {
          places.append(LogProver.Place(file: file &+ shard.base, n: n, leaf: leaf))
        }
      }
    }
    return places
  }

  /// The receipts of the next done files that the filter selects, at most `limit` files after number `after`, and the
  /// number of the last of these files.
  package func storedReceipts(
    _ filter: RowFilter, after: Int64, limit: Int
  ) throws -> (receipts: [StoredReceipt], last: Int64?) {
    let files = try db.rows(
      "SELECT f.id FROM file f WHERE f.id > ?1 AND f.state = 'done' AND {files} ORDER BY f.id LIMIT ?2", filter,
      .integer(after), .int(limit)
    ) { $0.int64(0) }
    return (try files.flatMap { try storedReceipts(of: $0) }, files.last)
  }

  /// The same receipts with their proofs, except those that were recorded after the prover's seal.
  package func provenReceipts(
    _ filter: RowFilter, after: Int64, limit: Int, by prover: LogProver
  ) throws -> (receipts: [ProvenReceipt], last: Int64?) {
    let page = try storedReceipts(filter, after: after, limit: limit)
    let encoder = LeafEncoder(db)
    return (try page.receipts.compactMap { try prover.proof(of: $0, self, encoder) }, page.last)
  }

  private func storedReceipts(of file: Int64) throws -> [StoredReceipt] {
    try db.rows(
      """
      SELECT r.size, r.attempt_id, r.confirmation, r.digest, r.remote_digest, r.etag, r.version_id, r.request_id,
        r.server_date, r.location, r.recorded_at, r.note, r.sha256, r.n, r.finding, f.path, f.key
      FROM receipt r CROSS JOIN file f ON f.id = r.file_id WHERE r.file_id = ?1 ORDER BY r.n
      """, .integer(file)
    ) { row in
      StoredReceipt(
        file: FileID(rawValue: file), path: row.name(15), key: row.name(16), receipt: Self.receipt(row),
        number: row.int64(13), finding: row.textOrNil(14))
    }
  }
}
