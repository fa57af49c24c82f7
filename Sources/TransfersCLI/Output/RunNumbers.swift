import TransferLedger
import TransferModel
import Transfers

/// What came out of files that were worked on, by this process or, while it looked on, by another.
struct RunNumbers: Sendable, Hashable {
  var done, failed, unknown, mismatched, left: Int
  var bytesAcked, bytesSent: Int64
  var retries: Int
  var wallMs: Int64
  var stoppedBy: String?

  init(_ run: RunResult) {
    (done, failed, unknown, mismatched, left) = (run.done, run.failed, run.unknown, run.mismatched, run.left)
    (bytesAcked, bytesSent, retries, wallMs) = (run.bytesAcked, run.bytesSent, run.retries, run.wallMs)
    stoppedBy = run.stoppedBy.map { "\($0)" }
  }

  /// Nothing had to be done.
  static let none = RunNumbers(FileTotals(), wallMs: 0)

  /// From the rows of a batch that another engine works on.
  init(_ totals: FileTotals, wallMs: Int64) {
    done = totals.count(.done)
    unknown = totals.count(.unknown)
    mismatched = totals.mismatched
    failed = totals.count(.failed) - totals.mismatched
    left = totals.left
    (bytesAcked, bytesSent, retries) = (totals.bytesAcked, totals.bytesSent, totals.retries)
    self.wallMs = wallMs
  }
}
