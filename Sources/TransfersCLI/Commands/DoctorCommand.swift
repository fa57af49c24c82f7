import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers doctor`.
struct DoctorCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check libraries, trust, ledger, disk, clock, limits and environment.",
    discussion: """
      Prints one line per check: ok, warn or fail, and a remedy. Changes nothing, takes no locks, sends no request, \
      and works while an engine runs; the ledger file is read once. Exits with 0 unless a check fails: with 7 if the \
      ledger or its disk fails, else with 78.
      """)

  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let path = try common.storePath(context)
    let facts = MachineFacts()
    let findings = ProgramChecks.all(facts) + LedgerChecks(path, context).all() + MachineChecks.all(facts, context)
    try common.print(DoctorOutput(findings), store: .ofAny(path, context), context)
    let failed = findings.filter { $0.outcome == .fail }
    guard let first = failed.first else { return }
    let isStore = failed.contains { ["ledger", "disk", "engine"].contains($0.check.prefix { $0 != "." }) }
    throw CommandFailure(
      isStore ? .store : .config, code: "doctor",
      "\(Quantity.count(failed.count, "check")) failed: \(first.check): \(first.text)",
      remedy: first.remedy)
  }
}
