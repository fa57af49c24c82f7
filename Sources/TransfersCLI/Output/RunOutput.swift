import TransferModel
import TransferReports
import Transfers

/// How a `run` or `push` ended.
struct RunOutput: OutputValue {
  private let numbers: RunNumbers
  private let status: ExitCode
  private let add: AddResult?
  private let failures: [FailureRow]
  /// What a `push` recorded before.
  private let added: AddOutput?
  private let selector: String
  /// Sources that `--after` should have deleted or moved, but that still exist.
  private let removals: RemovalTotals

  /// `status` is the exit code of the numbers; `problems` are listed worst first.
  init(
    _ run: RunNumbers, add: AddResult?, addOutput: AddOutput?, status: ExitCode, problems: [FailureRow],
    removals: RemovalTotals = RemovalTotals()
  ) {
    self.removals = removals
    (numbers, self.status, self.add, added, failures) = (run, status, add, addOutput, problems)
    selector = Self.selector(add)
  }

  /// Nothing that it counts is wrong.
  var isSuccess: Bool { status == .ok }

  static let form = ReportForm<RunOutput>(
    "transfers.run/1",
    [
      .facts(headline, .headline(2)),
      .record("files", nil, counts) { $0 },
      .table("failures", nil, FailureFigures.columns, TableLook(isForPrograms: true)) { $0.failures },
      .forPeople(nil, FailureFigures.inShort) { $0.worst },
      .facts([
        .bytes("bytes_transferred") { $0.numbers.bytesTransferred },
        .bytes("bytes_unacked_at_most") { $0.numbers.bytesUnackedAtMost },
        .list("unreachable_hosts") { $0.numbers.unreachable },
        .integer("sources_to_remove") { $0.removals.waiting }, .integer("sources_put_off") { $0.removals.putOff },
        .integer("sources_kept") { $0.removals.kept },
        .list("next", "") { $0.next }.saying { $0.next.isEmpty ? nil : "Next: " + $0.next.joined(separator: "     ") },
      ]),
      .object("added", nil, AddOutput.silentSections) { $0.added },
    ])

  /// `b412 partial: 116 done, 2 failed · 3.2 GiB in 1m 34s · 34.9 MiB/s · 7 retries · 12 MiB transferred and not
  /// acked`.
  private static let headline: [Column<RunOutput>] = [
    .text("batch", "batch") { $0.add?.batch?.description },
    .text("result", "result") { $0.status.name }.saying { $0.status.words },
    .integer("files_done", "files") { $0.numbers.done }.saying { $0.told },
    .bytes("bytes_acked", "bytes") { $0.numbers.bytesAcked }.saying { output in
      "\(Quantity.bytes(output.numbers.bytesAcked)) in \(Quantity.duration(output.numbers.wallMs))"
    },
    .duration("wall_ms") { $0.numbers.wallMs },
    .rate("bps", "goodput") { $0.rate }.saying { output in
      output.numbers.bytesAcked > 0 ? output.rate.map { Quantity.bytesPerSecond($0) } : nil
    },
    .bytes("bytes_reused", "reused") { $0.numbers.bytesReused }.saying { Quantity.reused($0.numbers.bytesReused) },
    .integer("retries", "retries") { $0.numbers.retries }.saying { output in
      output.numbers.retries > 0 ? Quantity.count(output.numbers.retries, "retry") : nil
    },
    .bytes("bytes_unacked", "unacked") { $0.numbers.bytesUnacked }.saying { output in
      Quantity.unacked(output.numbers.bytesUnacked, atMost: output.numbers.bytesUnackedAtMost)
    },
    .text("stopped_by", "stopped") { $0.numbers.stoppedBy?.rawValue }.saying {
      $0.numbers.left > 0 ? $0.numbers.stopReason : nil
    },
  ]

  private static let counts: [Column<RunOutput>] = [
    .integer("done") { $0.numbers.done }, .integer("failed") { $0.failed }, .integer("unknown") { $0.unknown },
    .integer("mismatched") { $0.numbers.mismatched }, .integer("cancelled") { $0.numbers.cancelled },
    .integer("duplicates") { $0.numbers.duplicates },
    .integer("unchanged") { $0.unchanged }, .integer("left") { $0.numbers.left },
    .integer("too_long") { $0.numbers.tooLong },
    .integer("earlier") { $0.numbers.badBefore },
  ]

  /// A value with all optional parts.
  static func sample(ofPush: Bool) -> RunOutput {
    RunOutput(
      .none, add: nil, addOutput: ofPush ? AddOutput.sample : nil, status: .ok, problems: [])
  }

  private var failed: Int { numbers.failed + (add?.counts.failed ?? 0) }
  private var unknown: Int { numbers.unknown + (add?.counts.unknown ?? 0) }
  private var unchanged: Int { numbers.unchanged + (add?.counts.unchanged ?? 0) }
  private var rate: Int64? { Quantity.rate(bytes: numbers.bytesAcked, ms: numbers.wallMs) }
  private var worst: [FailureRow] { Array(failures.filter { $0.files > 0 }.prefix(3)) }

  private var told: String {
    var counts = ["\(numbers.done) done"]
    if failed > 0 { counts.append("\(failed) failed") }
    if unknown > 0 { counts.append("\(unknown) unknown") }
    if numbers.mismatched > 0 { counts.append("\(numbers.mismatched) mismatched") }
    if !numbers.earlier.isEmpty { counts[counts.count - 1] += numbers.earlier }
    if numbers.cancelled > 0 { counts.append("\(numbers.cancelled) cancelled") }
    if numbers.duplicates > 0 { counts.append("\(numbers.duplicates) already delivered") }
    if unchanged > 0 { counts.append("\(unchanged) unchanged") }
    if numbers.left > 0 { counts.append("\(numbers.left) left\(numbers.longer)") }
    if let busy = add?.counts.busy, busy > 0 { counts.append("\(busy) busy") }
    return counts.joined(separator: ", ")
  }

  /// Selects the files of a push in suggested commands; empty after a run, which covers everything.
  static func selector(_ add: AddResult?) -> String { (add?.files.batches ?? []).map { " --batch \($0)" }.joined() }

  private var next: [String] {
    var commands: [String] = []
    if numbers.left > 0 { commands.append(numbers.wayOn(selector)) }
    if failed + unknown + numbers.mismatched > 0 {
      // Neither command finds a file without a row: the table above says what to do about it.
      let (failed, unknown) = (failed - (add?.unrecorded.failed ?? 0), unknown - (add?.unrecorded.unknown ?? 0))
      if failed + unknown + numbers.mismatched > 0 { commands.append("transfers report failures\(selector)") }
      if failed + numbers.mismatched > 0 { commands.append("transfers retry --state failed\(selector)") }
    }
    if unknown > 0 {
      commands.append("transfers help resolve")
    } else if failed + numbers.mismatched == 0, numbers.cancelled > 0 {
      // A retry of all would repeat what may have arrived.
      commands.append(
        numbers.undecided.isEmpty ? "transfers retry --state cancelled\(selector)" : "transfers help resolve")
    }
    return commands
  }
}
