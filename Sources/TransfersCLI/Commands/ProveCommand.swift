import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers prove`: that nothing was lost.
struct ProveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "prove", abstract: "Prove that no file was lost, and write a certificate of it.",
    discussion: """
      Looks at every file of the selection, also at hidden ones, and at the whole log: each file is done, failed, cancelled \
      or superseded; the chunks of each cover it without gap and overlap; each chunk that is done names the attempt that \
      succeeded; each done file has its receipt, and nothing that was seen later speaks against it; receipts, requests \
      and events are what was logged. What does not hold is listed, and the command ends with 8. The ledger is asked, \
      not the servers. A failed file is not lost: it is counted; --state done leaves it out.

      With -o FILE the file gets a certificate: an in-toto Statement in a DSSE envelope, signed with the ledger's key \
      (see "transfers store seal"). Its subjects are the done files with their SHA-256. tools/verify-receipt.py checks it \
      without the ledger.

      Examples:
        transfers prove --batch nightly
        transfers prove --since 2026-10-01 --until 2026-11-01 -o october.json
      """)

  @OptionGroup(title: "Selection") var rows: SelectionOptions
  @OptionGroup var common: CommonOptions

  private var writesCertificate: Bool { common.output.map { $0 != NameBytes("-") } ?? false }

  func validate() throws {
    guard writesCertificate, common.format != .table || common.columns != nil else { return }
    throw ValidationError("-o writes the certificate, a form of its own; leave out --format, --json and --columns")
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try rows.filter(ledger, context).withHidden
    let proof = try LedgerAccess.read(ledger) { try $0.lossProof(filter) }
    // A mistyped selection proves nothing.
    guard proof.total > 0 || !proof.holds else {
      throw CommandFailure(.empty, "prove: no file is selected", remedy: "transfers list files with the same words")
    }
    let value = LossProofFigures(proof)
    if writesCertificate {
      if proof.holds { try writeCertificate(proof, ledger, filter, context) }
      if !common.quiet || !proof.holds {
        try common.print(value, store: StoreIdentity(ledger), filters: rows.filters, context.writing(to: context.err))
      }
    } else {
      try common.print(value, store: StoreIdentity(ledger), filters: rows.filters, context)
    }
    guard !proof.holds else { return }
    throw CommandFailure(
      .mismatch,
      "prove: \(Quantity.count(proof.violations.count, "violation")) in \(Quantity.count(proof.total, "file"))",
      remedy: "transfers show FILE, transfers run for what is not finished, transfers store check for the log")
  }

  /// Of a seal that is made now: a file that ended meanwhile is not among those that were proven.
  private func writeCertificate(
    _ proof: LossProof, _ ledger: OpenStore, _ filter: RowFilter, _ context: Context
  ) throws(CommandFailure) {
    let prover = try failing { () throws(TransferError) in try ledger.receiptProver() }
    var certificate = Certificate(proof, prover.seal, filters: rows.filters, provenMs: context.clock.wallMs)
    var next: Int64? = 0
    while let after = next {
      let page = try LedgerAccess.read(ledger) { try $0.provenReceipts(filter, after: after, limit: 200, by: prover) }
      for receipt in page.receipts where receipt.stored.number == 1 { certificate.add(receipt) }
      next = page.last
    }
    guard certificate.files == proof.files[.done] ?? 0 else {
      throw CommandFailure(
        .error, "prove: files ended while the certificate was made", remedy: "prove again, or narrow the selection")
    }
    let envelope = try failing { () throws(TransferError) in
      try prover.envelope(of: certificate.statement, type: Certificate.payloadType)
    }
    context.out.write(Array(envelope.utf8))
    context.out.markComplete()
    if certificate.undigested > 0, !common.quiet {
      let count = Quantity.count(certificate.undigested, "file")
      context.err.writeLine("\(count) without a known SHA-256: in the certificate by the receipt only")
    }
  }
}

extension LossProofFigures: OutputValue {}
