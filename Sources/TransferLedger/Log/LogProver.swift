import TransferLog
public import TransferModel

/// Proves of receipts that they are in the log, as it was when the prover was made. Used by one thread at a time.
public final class LogProver {
  public let seal: LedgerSeal
  private let tree: TileTree
  /// Where the receipts are in the log, by file and number.
  private let receipts: [Place]

  struct Place {
    let file, n, leaf: Int64
  }

  fileprivate init(_ seal: LedgerSeal, _ tree: TileTree, _ receipts: [Place]) {
    (self.seal, self.tree) = (seal, tree)
    self.receipts = receipts.sorted { ($0.file, $0.n) < ($1.file, $1.n) }
  }

  /// nil for one that was recorded later.
  fileprivate func proof(of n: Int64, of file: Int64, _ reader: LedgerReader) throws -> InclusionProof? {
    guard let leaf = leaf(of: n, of: file) else { return nil }
    return try look(reader) {
      InclusionProof(index: leaf, path: try tree.inclusion(of: leaf, in: seal.leaves), note: seal.note)
    }
  }

  fileprivate func consistency(from leaves: Int64, _ reader: LedgerReader) throws -> SealConsistency {
    try look(reader) {
      let proof = try tree.consistency(from: leaves, to: seal.leaves)
      return SealConsistency(from: leaves, proof: proof.map { base64($0.bytes) })
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

  /// Leaves that are there stay, so that they may be read in another snapshot.
  private func look<T>(_ reader: LedgerReader, _ body: () throws -> T) throws -> T {
    try tree.reading({ [seal] in try reader.logTile($0, of: seal.leaves) }, body)
  }
}

extension Ledger {
  /// Seals the log as it is now. Makes the ledger's key where there is none, durable on return: the one thing that it
  /// writes, also beside a ledger that is open for reading. Reads the whole log. Blocking.
  /// - Parameter withReceipts: so that it can prove them; costs 24 bytes of memory for each receipt.
  public func logProver(withReceipts: Bool) throws(TransferError) -> LogProver {
    let (origin, tree, head, receipts) = try read { reader in
      let tree = try reader.logTree()
      let receipts = withReceipts ? try reader.receiptPlaces(below: tree.size) : []
      return (try reader.logOrigins().own, tree, try tree.head, receipts)
    }
    let key = try LogKeyFile(ofLedger: path).key(named: origin)
    let note = SignedNote(signing: Checkpoint(origin: origin, size: tree.size, head: head).text, with: key)
    let seal = LedgerSeal(
      origin: origin, leaves: tree.size, head: base64(head.bytes), note: note.description,
      publicKey: key.verifier.description)
    return LogProver(seal, tree, receipts)
  }

  /// Proves that the prover's log begins with that of an earlier seal. Throws `.usage` when the note is not a seal of
  /// this ledger.
  public func consistency(
    from note: String, to prover: LogProver
  ) throws(TransferError) -> (comparison: SealComparison, proof: SealConsistency?) {
    let comparison = try compare(seal: note)
    guard comparison.findings.isEmpty, comparison.leaves <= prover.seal.leaves else { return (comparison, nil) }
    return (comparison, try read { try prover.consistency(from: comparison.leaves, $0) })
  }

  /// Compares the log with a seal that was kept elsewhere: of this ledger, or of the one that it is a copy of. Throws
  /// `.usage` for anything else. Reads the whole log.
  public func compare(seal text: String) throws(TransferError) -> SealComparison {
    guard let note = SignedNote(text), let seal = Checkpoint(note.text) else {
      throw sealRefusal("it is not the checkpoint of a log (https://c2sp.org/tlog-checkpoint)")
    }
    let (origins, findings) = try read { reader in
      (try reader.logOrigins(), try reader.findings(of: seal))
    }
    guard seal.origin == origins.own || seal.origin == origins.copied else {
      throw sealRefusal("it is of \(seal.origin), and this ledger is \(origins.own)")
    }
    let verdicts = try LogKeyFile(ofLedger: path).keys().map { note.verdict(of: $0.verifier) }
    let signature: SealComparison.Signature =
      verdicts.contains(.invalid) ? .invalid : verdicts.contains(.valid) ? .valid : .unknown
    let forged = Finding(invariant: LedgerReader.sealRule, detail: "the seal was not signed as it stands")
    return SealComparison(
      origin: seal.origin, leaves: seal.size, signature: signature,
      findings: findings + (signature == .invalid ? [forged] : []))
  }

  private func sealRefusal(_ cause: String) -> TransferError {
    TransferError(.usage, "compare with seal", cause: cause, remedy: "\"transfers store seal\" prints one")
  }
}

extension LedgerReader {
  static let sealRule = "I52 the log goes on from what was sealed"

  func findings(of seal: Checkpoint) throws -> [Finding] {
    let problem: String?
    do { problem = try difference(from: seal) } catch let error as TransferError where error.kind == .storeCorrupt {
      problem = error.cause
    }
    return problem.map { [Finding(invariant: Self.sealRule, detail: $0)] } ?? []
  }

  private func difference(from seal: Checkpoint) throws -> String? {
    let tree = try logTree()
    guard seal.size <= tree.size else { return "\(seal.size) leaves were sealed, and there are \(tree.size)" }
    let isSame = try tree.head(seal.size) == seal.head
    return isSame ? nil : "the first \(seal.size) leaves are not those that were sealed"
  }

  fileprivate func receiptPlaces(below size: Int64) throws -> [LogProver.Place] {
    var places: [LogProver.Place] = []
    try forEachLogGroup { group in
      guard let entries = LogEntry.all(group.entries) else { throw damagedLog("leaf \(group.first) cannot be read") }
      for (leaf, entry) in zip(group.first..., entries) where leaf < size {
        if case .receipt(let file, let n) = entry { places.append(LogProver.Place(file: file, n: n, leaf: leaf)) }
      }
    }
    return places
  }

  /// The receipts of the next files that are done, at most `limit` files after number `after`, which the filter
  /// selects. Those that were recorded after the prover was made are left out.
  public func provenReceipts(
    _ filter: RowFilter, after: Int64, limit: Int, by prover: LogProver
  ) throws -> (receipts: [ProvenReceipt], last: Int64?) {
    let files = try db.rows(
      "SELECT f.id FROM file f WHERE f.id > ?1 AND f.state = 'done' AND {files} ORDER BY f.id LIMIT ?2", filter,
      .integer(after), .int(limit)
    ) { $0.int64(0) }
    let encoder = LeafEncoder(db)
    return (try files.flatMap { try provenReceipts(of: $0, prover, encoder) }, files.last)
  }

  private func provenReceipts(
    of file: Int64, _ prover: LogProver, _ encoder: LeafEncoder
  ) throws -> [ProvenReceipt] {
    let rows = try db.rows(
      """
      SELECT r.size, r.attempt_id, r.confirmation, r.digest, r.remote_digest, r.etag, r.version_id, r.request_id,
        r.server_date, r.location, r.recorded_at, r.note, r.n, r.finding, f.path, f.key
      FROM receipt r CROSS JOIN file f ON f.id = r.file_id WHERE r.file_id = ?1 ORDER BY r.n
      """, .integer(file)
    ) { (receipt: Self.receipt($0), n: $0.int64(12), finding: $0.textOrNil(13), path: $0.name(14), key: $0.name(15)) }
    return try rows.compactMap { row in
      guard let proof = try prover.proof(of: row.n, of: file, self),
        let leaf = try encoder.bytes(.receipt(file: file, n: row.n))
      else { return nil }
      return ProvenReceipt(
        file: FileID(rawValue: file), path: row.path, key: row.key, receipt: row.receipt, number: row.n,
        finding: row.finding, index: proof.index, leaf: leaf, proof: proof.description)
    }
  }
}
