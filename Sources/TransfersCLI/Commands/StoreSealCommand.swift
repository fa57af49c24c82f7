import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store seal`.
struct StoreSealCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "seal", abstract: "Print the signed head of the log, to be kept elsewhere.",
    discussion: """
      Every receipt, ended request and event is a leaf of a Merkle tree. Its head, a checkpoint of a few lines, \
      represents all of them: mail it, commit it, or let a witness sign it, so that nobody with write access to the \
      ledger can change it. "transfers store check --seal FILE" compares the ledger with it later; third parties \
      verify receipts with it and tools/verify-receipt.py. It is signed with the ledger's own Ed25519 key, the file \
      <ledger>.key (mode 0600), which is created at first use. JSON also has the public key.

      Examples:
        transfers store seal -o 2026-11.seal
        transfers store seal --json --since 2026-10.seal
        transfers store check --seal 2026-10.seal
      """)

  @Option(
    help: ArgumentHelp(
      "Also prove that this log begins with that of an earlier seal (in JSON).", valueName: "file"),
    completion: .file())
  var since: NameBytes?
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    guard let since else {
      let seal = try failing { () throws(TransferError) in try ledger.sealing() }
      return try common.print(SealOutput(seal, nil), store: StoreIdentity(ledger), context)
    }
    let (seal, comparison, proof) = try failing { () throws(TransferError) in try ledger.sealing(since: since) }
    guard comparison.findings.isEmpty else { throw Self.failure(of: comparison, "seal since \"\(since)\"") }
    try common.print(SealOutput(seal, proof), store: StoreIdentity(ledger), context)
  }

  /// The failure for a log that does not begin with the sealed log.
  static func failure(of comparison: SealComparison, _ operation: String) -> CommandFailure {
    CommandFailure(
      .store, code: "store.invariant", "\(operation): \(printable(comparison.findings.first?.detail ?? ""))",
      remedy: "keep a copy of the file and its -wal, and compare with your backups")
  }
}

/// The head of the log.
struct SealOutput: OutputValue {
  private let seal: LedgerSeal
  /// The proof that the log of an earlier seal is a prefix of this one.
  private let consistency: SealConsistency?

  init(_ seal: LedgerSeal, _ proof: SealConsistency?) { (self.seal, consistency) = (seal, proof) }

  static let form = ReportForm<SealOutput>(
    "transfers.store.seal/1",
    [
      .facts([
        .text("origin") { $0.seal.origin },
        .integer("leaves") { $0.seal.leaves },
        .text("head") { $0.seal.head },
        .text("public_key") { $0.seal.publicKey },
        // The unchanged note, so that an output file is a valid seal.
        .text("checkpoint", "") { $0.seal.note }.saying { $0.seal.note },
      ]),
      .record("consistency", nil, [.integer("from_leaves") { $0.from }, .list("proof") { $0.proof }]) {
        $0.consistency
      },
    ])
}
