import TransferModel

/// What a no-loss proof found.
public struct LossProofFigures: Sendable {
  public let proof: LossProof

  public init(_ proof: LossProof) { self.proof = proof }

  public static let form = ReportForm<LossProofFigures>(
    "transfers.prove/1", rows: "violations",
    [
      .words { $0.verdict },
      .facts([
        .flag("ok") { $0.proof.holds },
        .integer("files") { $0.proof.total },
        .integer("done") { $0.count(.done) },
        .integer("failed") { $0.count(.failed) },
        .integer("cancelled") { $0.count(.cancelled) },
        .integer("superseded") { $0.count(.superseded) },
        .bytes("bytes") { $0.proof.bytes },
      ]),
      .table(
        "violations", nil,
        [
          .text("file", "File") { $0.file?.description }, .text("rule", "Rule") { $0.rule.rawValue },
          .text("detail", "Detail") { $0.detail }, .name("path", "Path") { $0.path },
        ]
      ) { $0.proof.violations },
    ])

  private func count(_ state: FileState) -> Int { proof.files[state] ?? 0 }

  /// `118 files: 116 done, 2 failed; nothing is lost, and the log agrees`.
  public var verdict: String? {
    guard proof.holds else { return nil }
    let states = [FileState.done, .failed, .cancelled, .superseded].filter { count($0) > 0 }
    let counts = states.map { "\(count($0)) \($0.rawValue)" }.joined(separator: ", ")
    let files = Quantity.count(proof.total, "file") + (counts.isEmpty ? "" : ": \(counts)")
    return "\(files); nothing is lost, and the log agrees"
  }
}
