import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers doctor`.
struct DoctorCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check libraries, trust, ledger, disk, clock, limits and environment.",
    discussion: """
      One line a check: ok, warn or fail, and what to do about it. Changes nothing, locks nothing, asks no server, and \
      works while an engine runs; the file of the ledger is read once. Ends with 0 unless a check fails: with 7 when it \
      is one of the ledger or its disk, else with 78.
      """)

  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let path = try common.storePath(context)
    let facts = MachineFacts()
    let findings = ProgramChecks.all(facts) + LedgerChecks(path, context).all() + MachineChecks.all(facts, context)
    let store = (try? StoreIdentity.read(path, context)) ?? StoreIdentity(path: path)
    try common.print(DoctorOutput(findings), store: store, context)
    let failed = findings.filter { $0.verdict == .fail }
    guard let first = failed.first else { return }
    let isStore = failed.contains { ["ledger", "disk", "engine"].contains($0.check.prefix { $0 != "." }) }
    throw CommandFailure(
      isStore ? .store : .config, code: "doctor",
      "\(Quantity.count(failed.count, "check")) failed: \(first.check): \(first.text)",
      remedy: first.remedy)
  }
}
