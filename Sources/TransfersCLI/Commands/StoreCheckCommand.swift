import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store check`.
struct StoreCheckCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check the ledger against every rule it must keep; findings exit 7.")

  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let check = try LedgerAccess.read(ledger) { try $0.wholeCheck() }
    let value = StoreCheckOutput(check)
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
  static let schema = "transfers.store.check/1"
  let ok: Bool
  let invariants: Int
  /// What SQLite says about the file itself.
  let integrity: [String]
  let findings: [[String: String]]

  init(_ check: StoreCheck) {
    ok = check.isSound
    invariants = check.rules
    integrity = check.damage
    findings = check.findings.map { ["invariant": $0.invariant, "detail": $0.detail] }
  }

  func text(_ style: TextStyle) -> String {
    if ok { return "ok: the file is intact, \(invariants) invariants hold\n" }
    let damage = integrity.map { "damaged: \(printable($0))\n" }
    let broken = findings.map { "\(printable($0["invariant"] ?? "")): \(printable($0["detail"] ?? ""))\n" }
    return (damage + broken).joined()
  }
}
