import TransferModel

/// The result of a no-loss proof, and of the queries to destinations.
package struct LossProofFigures: Sendable {
  package let proof: LossProof
  /// nil if they were not queried.
  package let remote: RemoteProof?

  package init(_ proof: LossProof, remote: RemoteProof? = nil) { (self.proof, self.remote) = (proof, remote) }

  package static let form = ReportForm<LossProofFigures>(
    "transfers.prove/1", rows: "violations",
    [
      .words { $0.verdict },
      .facts([
        .flag("ok") { $0.holds },
        .integer("files") { $0.proof.total },
        .integer("done") { $0.count(.done) },
        .integer("failed") { $0.count(.failed) },
        .integer("cancelled") { $0.count(.cancelled) },
        .integer("superseded") { $0.count(.superseded) },
        .bytes("bytes") { $0.proof.bytes },
        .integer("pruned") { $0.proof.pruned },
        .integer("scans") { $0.proof.leftOut.scans },
        .integer("excluded") { $0.proof.leftOut.excluded },
        .integer("not_ready") { $0.proof.leftOut.notReady },
        .integer("special") { $0.proof.leftOut.special },
        .integer("known") { $0.proof.leftOut.known },
        .integer("refused") { $0.proof.leftOut.refused },
      ]),
      .record("remote", "asked again", remoteColumns) { $0.remote },
      .table(
        "violations", nil,
        [
          .text("file", "File") { $0.file?.description }, .text("rule", "Rule") { $0.rule.rawValue },
          .text("detail", "Detail") { $0.detail }, .name("path", "Path") { $0.path },
        ]
      ) { $0.proof.violations },
      .table(
        "unproven", "not proven by their destinations",
        [
          .text("file", "File") { $0.file.description }, .text("outcome", "Outcome") { $0.outcome.rawValue },
          .text("detail", "Detail") { $0.detail }, .name("path", "Path") { $0.path },
        ]
      ) { $0.remote?.doubts ?? [] },
    ])

  private static let remoteColumns: [Column<RemoteProof>] = [
    .integer("asked", "asked") { $0.asked },
    .integer("by_digest", "proven by digest") { $0.proven[.digest] ?? 0 },
    .integer("by_etag", "proven by etag") { $0.proven[.etag] ?? 0 },
    .integer("by_size", "proven by size") { $0.proven[.size] ?? 0 },
    .integer("different", "different") { $0.outcomes[.different] ?? 0 },
    .integer("absent", "absent") { $0.outcomes[.absent] ?? 0 },
    .integer("inconclusive", "cannot tell") { $0.outcomes[.inconclusive] ?? 0 },
    .integer("replaced", "replaced later") { $0.replaced },
    .integer("left", "not asked") { $0.left },
  ]

  static func remoteObject(_ remote: RemoteProof) -> FigureObject {
    FigureObject(remoteColumns.map { ($0.heading.key, $0.cell(remote)) })
  }

  /// Whether the proof holds, including the queries to destinations.
  package var holds: Bool { proof.holds && (remote?.isProven ?? true) }

  private func count(_ state: FileState) -> Int { proof.files[state] ?? 0 }

  /// `118 files: 116 done, 2 failed; nothing is lost, and the log agrees`.
  package var verdict: String? {
    guard proof.holds else { return nil }
    let states = [FileState.done, .failed, .cancelled, .superseded].filter { count($0) > 0 }
    let counts = states.map { "\(count($0)) \($0.rawValue)" }.joined(separator: ", ")
    let files = Quantity.count(proof.total, "file") + (counts.isEmpty ? "" : ": \(counts)")
    let pruned = proof.pruned > 0 ? " (\(proof.pruned) by their receipts only: their requests were pruned)" : ""
    return "\(files)\(pruned); nothing is lost, and the log agrees\(leftOut)"
  }

  /// `; the last scans left out 3 excluded and 1 special`.
  private var leftOut: String {
    let left = proof.leftOut
    let counts = [left.excluded, left.notReady, left.special, left.known, left.refused]
    let words = ["excluded", "not ready", "special", "by a list of the destination", "refused"]
    let parts = zip(counts, words).filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    guard !parts.isEmpty else { return "" }
    return "; the last \(left.scans == 1 ? "scan" : "scans") left out \(parts.joined(separator: ", "))"
  }

  /// For the certificate.
  static func leftOutObject(_ left: LossProof.LeftOut) -> FigureObject {
    FigureObject([
      ("scans", Cell(left.scans)), ("excluded", Cell(left.excluded)), ("not_ready", Cell(left.notReady)),
      ("special", Cell(left.special)), ("known", Cell(left.known)), ("refused", Cell(left.refused)),
    ])
  }
}
