import TransferLog
public import TransferModel

/// Seals of the log: creating them, comparing the log with them, and proving receipts by an earlier one.
extension Ledger {
  /// Seals the log as it is now, after comparing it with its rows. Creates the ledger's key if there is none, durable
  /// on return: the only thing that it writes, even if the ledger is open for reading only. Reads the whole log and
  /// every row that has a leaf. Blocking.
  /// - Parameter withReceipts: whether the prover can prove receipts; costs 24 bytes of memory for each receipt.
  /// - Throws: `.storeCorrupt` if the log does not match its rows, because a signature would vouch for it. `.usage` for
  ///   receipts of a merged ledger, which are in the logs of its shards.
  public func logProver(withReceipts: Bool) throws(TransferError) -> LogProver {
    let path = path
    if withReceipts, try read({ reader in try reader.shards().count }) > 1 {
      throw TransferError(
        .usage, "prove receipts of", NameBytes(path),
        cause: "the receipts of a merged ledger are in the logs of its shards",
        remedy: "give a seal of a shard with --seal; \"transfers store seal --store SHARD\" prints one")
    }
    return try read { reader in
      let problems = try reader.logFindings()
      if let first = problems.first { throw reader.damagedLog("\(first) (findings: \(problems.count))") }
      return try reader.logProver(ofLedger: path, withReceipts: withReceipts)
    }
  }

  /// Proves receipts by an earlier seal, without creating a new one. Receipts that were recorded after that seal cannot
  /// be proved. The prover is nil if the log does not begin with the sealed log; the comparison then says why. Throws
  /// `.usage` if the note is not a seal of this ledger.
  package func logProver(
    sealedAs note: String
  ) throws(TransferError) -> (comparison: SealComparison, prover: LogProver?) {
    let comparison = try compare(seal: note)
    guard comparison.findings.isEmpty else { return (comparison, nil) }
    let kept = try keptSeal(note)
    let key = try LogKeyFile(ofLedger: path).publicKeys().first { kept.note.outcome(of: $0) == .valid }
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

  /// Proves that the prover's log begins with the log of an earlier seal. Throws `.usage` if the note is not a seal of
  /// this ledger.
  package func consistency(
    from note: String, to prover: LogProver
  ) throws(TransferError) -> (comparison: SealComparison, proof: SealConsistency?) {
    let comparison = try compare(seal: note)
    guard comparison.findings.isEmpty, comparison.leaves <= prover.seal.leaves else { return (comparison, nil) }
    let checkpoint = try keptSeal(note).checkpoint
    return (comparison, try read { try prover.consistency(from: checkpoint, $0) })
  }

  /// Compares the log with a seal that was kept elsewhere: of this ledger, of the ledger from which it was copied, or
  /// of a shard that was merged into it. Throws `.usage` for anything else. Reads the whole log.
  /// - Parameter key: a public key as `store seal` prints it, which must have signed the seal; if nil, the keys in the
  ///   key file are used, if it exists and is readable.
  package func compare(seal text: String, key: String? = nil) throws(TransferError) -> SealComparison {
    let (note, seal) = try keptSeal(text)
    let (own, findings) = try read { reader in
      (try reader.logOrigins().own, try reader.shard(ofLog: seal.origin).map { try reader.findings(of: seal, $0) })
    }
    guard let findings else { throw sealRefusal("it is a seal of \(seal.origin), but this ledger is \(own)") }
    let signature = try signature(of: note, by: key)
    let isForged = signature == .invalid || key != nil && signature != .valid
    let forged = Finding(
      invariant: LedgerReader.sealRule,
      detail: signature == .invalid
        ? "the signature of the seal is invalid" : "the seal was not signed with the given key")
    return SealComparison(
      origin: seal.origin, leaves: seal.size, signature: signature, findings: findings + (isForged ? [forged] : []))
  }

  private func signature(of note: SignedNote, by key: String?) throws(TransferError) -> SealComparison.Signature {
    guard let key else { return .of(note, try LogKeyFile(ofLedger: path).publicKeys()) }
    guard let given = VerifyingKey(text: key) else {
      throw TransferError(
        .usage, "compare with seal", cause: "the given key is not a public key",
        remedy: "give the public_key of \"transfers store seal --json\"")
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
  /// Like ``Ledger/logProver(withReceipts:)``, for the log in this snapshot, which must have been compared with its
  /// rows without findings.
  /// - Parameter path: the path of this ledger; its key file is beside it.
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
    let outcomes = keys.map { note.outcome(of: $0) }
    return outcomes.contains(.invalid) ? .invalid : outcomes.contains(.valid) ? .valid : .unknown
  }
}

extension LedgerReader {
  static let sealRule = "I52 the log begins with the sealed log"

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
    guard seal.size <= tree.size else { return "\(seal.size) leaves were sealed, but the log has \(tree.size)" }
    let isSame = try tree.head(seal.size) == seal.head
    return isSame ? nil : "the first \(seal.size) leaves are not those that were sealed"
  }
}
