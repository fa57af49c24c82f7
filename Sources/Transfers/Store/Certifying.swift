import TransferLedger
package import TransferModel
package import TransferReports

/// A signed certificate, ready to be written.
package struct SignedCertificate {
  private let spool: CertificateSpool
  private let frame: (before: String, behind: String)
  /// Files in it without a known SHA-256.
  package let undigested: Int
  package let subjects: Int

  fileprivate init(
    _ spool: CertificateSpool, _ frame: (before: String, behind: String), subjects: Int, undigested: Int
  ) {
    (self.spool, self.frame, self.subjects, self.undigested) = (spool, frame, subjects, undigested)
  }

  /// Writes the envelope in pieces, in order.
  package func write(_ take: ([UInt8]) -> Void) throws(TransferError) {
    take(Array(frame.before.utf8))
    try spool.forEachPiece { bytes throws(TransferError) in take(Array(base64(bytes).utf8)) }
    take(Array(frame.behind.utf8))
  }
}

extension OpenStore {
  /// The no-loss proof for the selected files and, if it holds, its certificate: both from the same snapshot, with
  /// memory for one page of receipts. Creates the store's key if there is none.
  /// - Parameters:
  ///   - filters: the selection, as the certificate describes it.
  ///   - provenMs: milliseconds since 1970 UTC.
  ///   - remote: what the destinations answered before.
  package func certified(
    _ filter: RowFilter, filters: [String: Cell], provenMs: Int64, remote: RemoteProof?
  ) throws(TransferError) -> (proof: LossProof, certificate: SignedCertificate?) {
    let path = path
    return try read { reader in
      guard try !reader.reader.isMerged() else { throw Self.manyLogs(path) }
      let proof = try reader.lossProof(filter)
      guard proof.holds, proof.total > 0 else { return (proof, nil) }
      // The proof has already compared the log with its rows.
      let prover = try reader.reader.logProver(ofLedger: path, withReceipts: true)
      let text = Certificate(proof, prover.seal, filters: filters, provenMs: provenMs, remote: remote)
      let (statement, others) = (try CertificateSpool(), try CertificateSpool())
      try statement.append(text.opening)
      var (subjects, undigested): (Int, Int) = (0, 0)
      try reader.reader.forEachProven(filter, by: prover) { receipt, newest in
        let entry = text.entry(receipt, newest: newest)
        let isFirst = (entry.isSubject ? subjects : undigested) == 0
        try (entry.isSubject ? statement : others).append(isFirst ? entry.bytes : [0x2C] + entry.bytes)
        if entry.isSubject { subjects += 1 } else { undigested += 1 }
      }
      guard subjects + undigested == proof.files[.done] ?? 0 else {
        throw TransferError(
          .bug, "certify", cause: "\(subjects + undigested) receipts of \(proof.files[.done] ?? 0) files")
      }
      try statement.append(text.middle)
      try statement.append(others)
      try statement.append(text.ending)
      let frame = try prover.envelope(type: Certificate.payloadType) { sign in
        try statement.withMapped(LogProver.opening(statement.length, type: Certificate.payloadType), sign)
      }
      return (proof, SignedCertificate(statement, frame, subjects: subjects, undigested: undigested))
    }
  }
}

extension OpenStore {
  /// A certificate refers to one log, with one key.
  private static func manyLogs(_ path: String) -> TransferError {
    TransferError(
      .storeUnsuitable, "certify", NameBytes(path),
      cause: "a merged ledger has its receipts in the logs of its shards, and a certificate is about one log",
      remedy: "use \"transfers prove -o FILE\" with each of its shards")
  }
}

extension LedgerReader {
  /// The first receipt of each done file that the filter selects, and the newest one if others followed.
  fileprivate func forEachProven(
    _ filter: RowFilter, by prover: LogProver, _ body: (ProvenReceipt, ProvenReceipt?) throws -> Void
  ) throws {
    var next: Int64? = 0
    while let after = next {
      let page = try provenReceipts(filter, after: after, limit: 200, by: prover)
      for (index, receipt) in page.receipts.enumerated() where receipt.stored.number == 1 {
        let later = page.receipts[(index + 1)...].prefix { $0.stored.number > 1 }
        try body(receipt, later.last)
      }
      next = page.last
    }
  }
}
