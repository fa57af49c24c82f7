import TransferReports

/// What one check of `doctor` came to.
struct DoctorFinding: Sendable, Hashable {
  enum Verdict: String, Sendable { case ok, warn, fail }

  /// Stable: `ledger.mode`. The part before the point is what it is about.
  var check: String
  var verdict: Verdict
  /// One line, safe for a terminal.
  var text: String
  /// What to do; empty when there is nothing to be done.
  var remedy: String

  static func ok(_ check: String, _ text: String) -> DoctorFinding {
    DoctorFinding(check: check, verdict: .ok, text: text, remedy: "")
  }

  static func warn(_ check: String, _ text: String, _ remedy: String) -> DoctorFinding {
    DoctorFinding(check: check, verdict: .warn, text: text, remedy: remedy)
  }

  static func fail(_ check: String, _ text: String, _ remedy: String) -> DoctorFinding {
    DoctorFinding(check: check, verdict: .fail, text: text, remedy: remedy)
  }
}

/// What `doctor` found.
struct DoctorOutput: OutputValue {
  static let schema = "transfers.doctor/1"
  let ok: Bool
  let checks: FigureTable
  private let findings: [DoctorFinding]

  private enum CodingKeys: String, CodingKey { case ok, checks }

  init(_ findings: [DoctorFinding]) {
    self.findings = findings
    ok = !findings.contains { $0.verdict == .fail }
    checks = FigureTable(
      [
        Column("check") { .text($0.check) }, Column("verdict") { .text($0.verdict.rawValue) },
        Column("finding") { .text($0.text) }, Column("remedy") { Cell($0.remedy.isEmpty ? nil : $0.remedy) },
      ], findings)
  }

  var table: FigureTable? { checks }

  /// A line a check, and below those that need one what to do.
  func text(_ style: TextStyle) -> String {
    let width = findings.map(\.check.count).max() ?? 0
    return findings.map { finding in
      let colour: TextStyle.Colour =
        switch finding.verdict {
        case .ok: .green
        case .warn: .yellow
        case .fail: .red
        }
      let verdict = style.paint(DisplayWidth.pad(finding.verdict.rawValue, to: 4, alignsRight: false), colour)
      let name = DisplayWidth.pad(finding.check, to: width, alignsRight: false)
      let indent = String(repeating: " ", count: width + 8)
      return "\(verdict)  \(name)  \(finding.text)\n"
        + (finding.remedy.isEmpty ? "" : "\(indent)\(style.arrow) \(finding.remedy)\n")
    }.joined()
  }
}
