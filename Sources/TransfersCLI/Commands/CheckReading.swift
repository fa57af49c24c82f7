import TransferModel
import Transfers

/// The data of a check.
struct CheckReading: Sendable {
  var jobs: [JobRow]
  var scans: [ScanRow] = []
  /// Files that the newest scan of a job refused, and of which no row is shown: jobs that have any.
  var refused: [String: Int] = [:]
  /// The jobs whose sources are scanned.
  var uploads: [String] = []
  /// Configured jobs that have no completed run.
  var neverRan: [String] = []
  var totals: StateTotals
  var unfinished: UnfinishedFiles
  var removals = RemovalTotals()
  /// Whether the job exists in the configuration or the ledger.
  var isKnown: Bool
  /// The callbacks of the job, or of the whole ledger.
  var callbacks = CallbacksLeft()
  /// Number of unfinished files of each job whose quota is used up: waiting is normal for them.
  var heldByQuota: [String: Int] = [:]
}
