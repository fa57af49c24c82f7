import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store check`.
struct StoreCheckCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check the ledger against all invariants; exits with 7 if one is violated.",
    discussion: """
      Also compares every receipt, ended request and event with its hash in the log. Somebody with write access to the \
      ledger can rewrite rows and log together; only a seal of "transfers store seal" that is kept elsewhere reveals \
      this: --seal FILE checks that the log still begins with the sealed one. The signature is checked with the key \
      file beside the ledger, or with --key, for those who may read the ledger but not its key.
      """)

  @Option(help: ArgumentHelp("Also compare the log with this seal.", valueName: "file"), completion: .file())
  var seal: NameBytes?
  @Option(
    help: ArgumentHelp(
      "With --seal: the public key of its signature, as published by its owner.", valueName: "public key"))
  var key: String?
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if key != nil, seal == nil { throw ValidationError("--key is the key of a seal; also give --seal FILE") }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let whole = try LedgerAccess.read(ledger) { try $0.wholeCheck() }
    let comparison = try seal.map { file throws(CommandFailure) in
      try failing { () throws(TransferError) in try ledger.compare(sealIn: file, key: key) }
    }
    let check = comparison.map(whole.with) ?? whole
    let value = StoreCheckOutput(check, comparison)
    try common.print(value, store: StoreIdentity(ledger), context)
    guard !value.ok else { return }
    let count = check.damage.count + check.findings.count
    throw CommandFailure(
      .store, code: check.damage.isEmpty ? "store.invariant" : "store.corrupt",
      "check \"\(NameBytes(ledger.path))\": \(Quantity.count(count, "finding"))",
      remedy: "keep a copy of the file and its -wal, and report this; the ledger was not changed")
  }
}

/// What `store check` found.
struct StoreCheckOutput: OutputValue {
  private let check: StoreCheck
  /// What the log was compared with.
  private let seal: SealComparison?
  var ok: Bool { check.isSound }

  init(_ check: StoreCheck, _ comparison: SealComparison? = nil) { (self.check, seal) = (check, comparison) }

  static let form = ReportForm<StoreCheckOutput>(
    "transfers.store.check/1",
    [
      .facts([
        .flag("ok", "") { $0.ok }.saying { $0.verdict }.toned { $0.ok ? .good : nil },
        .integer("invariants") { $0.check.rules },
      ]),
      .table("integrity", "damage of the file", [.text("finding", "Finding") { $0 }]) { $0.check.damage },
      .table(
        "findings", "broken invariants",
        [.text("invariant", "Invariant") { $0.invariant }, .text("detail", "Detail") { $0.detail }]
      ) { $0.check.findings },
      .record(
        "seal", nil,
        [.text("origin") { $0.origin }, .integer("leaves") { $0.leaves }, .text("signature") { $0.signature.rawValue }]
      ) { $0.seal },
    ])

  private var verdict: String? {
    guard ok else { return nil }
    let sealed = seal.map { ", the log begins with the \($0.leaves) leaves that were sealed" } ?? ""
    return "ok: the file is intact, \(check.rules) invariants hold\(sealed)"
  }
}
