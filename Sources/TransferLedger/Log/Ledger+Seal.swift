import TransferLog
public import TransferModel

/// Seals of the log: made, compared and gone back to.
extension Ledger {
  /// Seals the log as it is now, after comparing it with its rows. Makes the ledger's key where there is none, durable
  /// on return: the one thing that it writes, also beside a ledger that is open for reading. Reads the whole log and
  /// every row that a leaf is of. Blocking.
  /// - Parameter withReceipts: so that it can prove them; costs 24 bytes of memory for each receipt.
  /// - Throws: `.storeCorrupt` for a log that does not say what its rows say: a signature would vouch for it. `.usage`
  ///   for receipts of a merged ledger, which are in the logs of its shards.
  public func logProver(withReceipts: Bool) throws(TransferError) -> LogProver {
    let path = path
    if withReceipts, try read({ reader in try reader.shards().count }) > 1 {
      throw TransferError(
        .usage, "prove receipts of", NameBytes(path),
        cause: "the receipts of a merged ledger are in the logs of its shards",
        remedy: "name a seal of a shard with --seal; \"transfers store seal --store SHARD\" prints one")
    }
    return try read { reader in
      let problems = try reader.logFindings()
      if let first = problems.first { throw reader.damagedLog("\(first) (findings: \(problems.count))") }
      return try reader.logProver(ofLedger: path, withReceipts: withReceipts)
    }
  }

  /// Proves receipts by a seal that was kept, without making another: the log as it was then. Those that were recorded
  /// later are not in it. No prover where the log does not begin with it; then the comparison says why. Throws `.usage`
  /// when the note is not a seal of this ledger.
  public func logProver(
    sealedAs note: String
  ) throws(TransferError) -> (comparison: SealComparison, prover: LogProver?) {
    let comparison = try compare(seal: note)
    guard comparison.findings.isEmpty else { return (comparison, nil) }
    let kept = try keptSeal(note)
    let key = try LogKeyFile(ofLedger: path).publicKeys().first { kept.note.verdict(of: $0) == .valid }
    let seal = LedgerSeal(
      origin: kept.checkpoint.origin, leaves: kept.checkpoint.size, head: base64(kept.checkpoint.head.bytes),
      note: note, publicKey: key?.description)
    let prover = try read { reader in
      let shard = try reader.shard(ofLog: kept.checkpoint.origin) ?? .own
      let places = try reader.receiptPlaces(below: kept.checkpoint.size, shard)
      return LogProver(seal, kept.checkpoint.head, try reader.logTree(shard), places, shard: shard)
    }
    return (comparison, prover)
  }

  /// Proves that the prover's log begins with that of an earlier seal. Throws `.usage` when the note is not a seal of
  /// this ledger.
  public func consistency(
    from note: String, to prover: LogProver
  ) throws(TransferError) -> (comparison: SealComparison, proof: SealConsistency?) {
    let comparison = try compare(seal: note)
    guard comparison.findings.isEmpty, comparison.leaves <= prover.seal.leaves else { return (comparison, nil) }
    let checkpoint = try keptSeal(note).checkpoint
    return (comparison, try read { try prover.consistency(from: checkpoint, $0) })
  }

  /// Compares the log with a seal that was kept elsewhere: of this ledger, of the one that it is a copy of, or of a
  /// shard that was merged into it. Throws
  /// `.usage` for anything else. Reads the whole log.
  /// - Parameter key: a public key as `store seal` prints it, which must have signed the seal; without it those of the
  ///   key file count, as far as it is there and may be read.
  public func compare(seal text: String, key: String? = nil) throws(TransferError) -> SealComparison {
    let (note, seal) = try keptSeal(text)
    let (own, findings) = try read { reader in
      (try reader.logOrigins().own, try reader.shard(ofLog: seal.origin).map { try reader.findings(of: seal, $0) })
    }
    guard let findings else { throw sealRefusal("it is of \(seal.origin), and this ledger is \(own)") }
    let signature = try signature(of: note, by: key)
    let isForged = signature == .invalid || key != nil && signature != .valid
    let forged = Finding(
      invariant: LedgerReader.sealRule,
      detail: signature == .invalid
        ? "the seal was not signed as it stands" : "the seal was not signed with the key that was given")
    return SealComparison(
      origin: seal.origin, leaves: seal.size, signature: signature, findings: findings + (isForged ? [forged] : []))
  }

  private func signature(of note: SignedNote, by key: String?) throws(TransferError) -> SealComparison.Signature {
    guard let key else { return .of(note, try LogKeyFile(ofLedger: path).publicKeys()) }
    guard let given = VerifyingKey(text: key) else {
      throw TransferError(
        .usage, "compare with seal", cause: "the given key is not a public key",
        remedy: "the public_key of \"transfers store seal --json\"")
    }
    return .of(note, [given])
  }

  private func keptSeal(_ text: String) throws(TransferError) -> (note: SignedNote, checkpoint: Checkpoint) {
    guard let note = SignedNote(text), let seal = Checkpoint(note.text) else {
      throw sealRefusal("it is not the checkpoint of a log (https://c2sp.org/tlog-checkpoint)")
    }
    return (note, seal)
  }

  private func sealRefusal(_ cause: String) -> TransferError {
    TransferError(.usage, "compare with seal", cause: cause, remedy: "\"transfers store seal\" prints one")
  }
}

extension LedgerReader {
  /// As ``Ledger/logProver(withReceipts:)``, of the log as it is in this snapshot, whose comparison with its rows has
  /// found nothing.
  /// - Parameter path: of this ledger; its key is beside it.
  public func logProver(ofLedger path: String, withReceipts: Bool) throws -> LogProver {
    let (origin, tree) = (try logOrigins().own, try logTree())
    let head = try tree.head
    let key = try LogKeyFile(ofLedger: path).key(named: origin)
    let note = SignedNote(signing: Checkpoint(origin: origin, size: tree.size, head: head).text, with: key)
    let seal = LedgerSeal(
      origin: origin, leaves: tree.size, head: base64(head.bytes), note: note.description,
      publicKey: key.verifier.description)
    let receipts = withReceipts ? try receiptPlaces(below: tree.size) : []
    return LogProver(seal, head, tree, receipts, key: key)
  }
}

extension SealComparison.Signature {
  fileprivate static func of(_ note: SignedNote, _ keys: [VerifyingKey]) -> SealComparison.Signature {
    let verdicts = keys.map { note.verdict(of: $0) }
    return verdicts.contains(.invalid) ? .invalid : verdicts.contains(.valid) ? .valid : .unknown
  }
}

extension LedgerReader {
  static let sealRule = "I52 the log goes on from what was sealed"

  func findings(of seal: Checkpoint, _ shard: ShardNumber = .own) throws -> [Finding] {
    let problem: String?
    do { problem = try difference(from: seal, shard) } catch let error as TransferError
      where error.kind == .storeCorrupt
    {
      problem = error.cause
    }
    return problem.map { [Finding(invariant: Self.sealRule, detail: $0)] } ?? []
  }

  private func difference(from seal: Checkpoint, _ shard: ShardNumber) throws -> String? {
    let tree = try logTree(shard)
    guard seal.size <= tree.size else { return "\(seal.size) leaves were sealed, and there are \(tree.size)" }
    let isSame = try tree.head(seal.size) == seal.head
    return isSame ? nil : "the first \(seal.size) leaves are not those that were sealed"
  }
}
