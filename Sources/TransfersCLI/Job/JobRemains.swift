import TransferModel
import TransferReports
import Transfers

/// What a run of a job leaves: only files for which the limits of the job leave no room, or also such as no limit holds
/// up.
struct JobRemains {
  /// The quota of the job is used up.
  private let isAtQuota: Bool
  private let destinations: [RemainingDestination]

  /// - Parameter mark: that of the files that the run has recorded.
  init(_ job: String, since mark: AddedFiles.Mark, _ storePath: String, _ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    let nowMs = context.clock.wallMs
    (isAtQuota, destinations) = try LedgerAccess.read(ledger) { reader in
      (
        try reader.quota(ofJob: job, nowMs: nowMs)?.isReached == true,
        try reader.remaining(ofJob: job, since: mark)
      )
    }
  }

  /// Gives the numbers the reason that holds for the files of this job: an engine that ends because of the files of
  /// others says nothing of a quota.
  func explain(_ numbers: inout RunNumbers) {
    let others: [StopCause?] = [.notDue, .unreachable, .limit]
    guard isAtQuota, heldUp(.quota).isEmpty, others.contains(numbers.stoppedBy) else { return }
    (numbers.stoppedBy, numbers.unreachable) = (.quota, [])
  }

  /// Destinations at which every attempt failed. The limit may have left no room for an attempt at the others.
  func heldUp(_ cause: StopCause?) -> [String] {
    guard cause == .quota || cause == .limit else { return [] }
    return destinations.filter { $0.hadSuccess == false }.map(\.url)
  }

  /// The end of a message.
  static func told(_ heldUp: [String]) -> String {
    guard !heldUp.isEmpty else { return "" }
    let others = heldUp.count > 3 ? [Quantity.count(heldUp.count - 3, "other")] : []
    return "; nothing was sent to " + (heldUp.prefix(3).map(printable) + others).joined(separator: ", ")
  }
}
