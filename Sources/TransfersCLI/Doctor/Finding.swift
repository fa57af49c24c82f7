import TransferReports

/// The result of one check of `doctor`.
struct DoctorFinding: Sendable, Hashable {
  enum Outcome: String, Sendable { case ok, warn, fail }

  /// Stable: `ledger.mode`. The part before the dot is the subject.
  var check: String
  var outcome: Outcome
  /// One line, safe for a terminal.
  var text: String
  /// The remedy; empty if none is needed.
  var remedy: String

  static func ok(_ check: String, _ text: String) -> DoctorFinding {
    DoctorFinding(check: check, outcome: .ok, text: text, remedy: "")
  }

  static func warn(_ check: String, _ text: String, _ remedy: String) -> DoctorFinding {
    DoctorFinding(check: check, outcome: .warn, text: text, remedy: remedy)
  }

  static func fail(_ check: String, _ text: String, _ remedy: String) -> DoctorFinding {
    DoctorFinding(check: check, outcome: .fail, text: text, remedy: remedy)
  }
}

/// What `doctor` found.
struct DoctorOutput: OutputValue {
  private let findings: [DoctorFinding]

  init(_ findings: [DoctorFinding]) { self.findings = findings }

  static let form = ReportForm<DoctorOutput>(
    "transfers.doctor/1", rows: "checks",
    [
      .facts([.flag("ok") { output in !output.findings.contains { $0.outcome == .fail } }]),
      .table(
        "checks", nil,
        [
          .text("check", "Check") { $0.check }, .text("verdict", "Result") { $0.outcome.rawValue },
          .text("finding", "Finding") { $0.text }, .text("remedy") { $0.remedy.isEmpty ? nil : $0.remedy },
        ], TableLook(note: "remedy")
      ) { $0.findings },
    ])
}
