import TransferLedger
package import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The store's log, by which third parties can verify its receipts (docs/receipts.md).
extension OpenStore {
  /// Seals the current log, even if the store is open read-only. The first seal creates the store's key, `<path>.key`.
  /// Reads the whole log.
  package func sealing() throws(TransferError) -> LedgerSeal { try prover(withReceipts: false).seal }

  /// The same, with the proof that the log of the seal in `file` is its beginning; the proof is nil if it is not, and
  /// then the comparison says why.
  /// - Throws: `.usage` for a file without a seal of this store.
  package func sealing(
    since file: NameBytes
  ) throws(TransferError) -> (seal: LedgerSeal, comparison: SealComparison, proof: SealConsistency?) {
    let prover = try prover(withReceipts: false)
    let (comparison, proof) = try prover.consistency(with: try Self.seal(in: file))
    return (prover.seal, comparison, proof)
  }

  /// Compares the log with the seal in `file`, which was kept elsewhere. If `key` is given, the seal must be signed
  /// with it.
  /// - Throws: `.usage` for a file without a seal of this store, and for an invalid public key.
  package func compare(sealIn file: NameBytes, key: String?) throws(TransferError) -> SealComparison {
    let note = try Self.seal(in: file)
    do throws(TransferError) { return try compare(seal: note, key: key) } catch {
      guard error.subject.isEmpty else { throw error }
      throw TransferError(error.kind, error.operation, file, cause: error.cause, remedy: error.remedy)
    }
  }

  /// Reads the whole log once; then proves receipts of ``StoreReader/provenReceipts(_:after:limit:by:)``.
  package func receiptProver() throws(TransferError) -> ReceiptProver { try prover(withReceipts: true) }

  /// The same with the stored seal in `file`: creates no seal and needs no key. nil if the log does not begin with it;
  /// then the comparison says why.
  /// - Throws: `.usage` for a file without a seal of this store.
  package func receiptProver(
    sealedIn file: NameBytes
  ) throws(TransferError) -> (comparison: SealComparison, prover: ReceiptProver?) {
    try prover(sealedAs: try Self.seal(in: file))
  }

  private static func seal(in file: NameBytes) throws(TransferError) -> String {
    let path = String(decoding: file.bytes, as: UTF8.self)
    let bytes: [UInt8]
    do throws(FileText.Unreadable) { bytes = try FileText.read(NameBytes(path)) } catch {
      throw TransferError(
        .usage, "read seal", file, cause: error.cause, remedy: "name a file that \"transfers store seal\" made")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Proves that receipts are in the log as it was when the prover was created. Used by one thread at a time.
package struct ReceiptProver {
  let prover: LogProver
  let ledger: Ledger
  package var seal: LedgerSeal { prover.seal }

  fileprivate func consistency(
    with note: String
  ) throws(TransferError) -> (comparison: SealComparison, proof: SealConsistency?) {
    try ledger.consistency(from: note, to: prover)
  }
}

extension StoreReader {
  /// Checks every file that the filter selects, with its chunks and receipts, and the whole log.
  package func lossProof(_ filter: RowFilter) throws -> LossProof { try reader.lossProof(filter) }

  /// The receipts of the next done files, at most `limit` files after number `after`, and the number of the last of
  /// these files; nil at the end.
  package func storedReceipts(
    _ filter: RowFilter, after: Int64, limit: Int
  ) throws -> (receipts: [StoredReceipt], last: Int64?) {
    try reader.storedReceipts(filter, after: after, limit: limit)
  }

  /// The same with their proofs. Receipts that were recorded after the prover's seal are left out.
  package func provenReceipts(
    _ filter: RowFilter, after: Int64, limit: Int, by prover: ReceiptProver
  ) throws -> (receipts: [ProvenReceipt], last: Int64?) {
    try reader.provenReceipts(filter, after: after, limit: limit, by: prover.prover)
  }
}
