import TransferLedger
import TransferModel

/// What a run tells people of its progress. Nothing of it is looked at between two reports, and nothing at all when
/// nobody listens. A value; times are milliseconds of the boot clock.
struct RunProgress: Sendable {
  /// What a report is made of, besides what is kept here.
  struct Standing {
    /// Of this run so far.
    var result: RunResult
    /// Files with a request that runs, or that wait for a backoff.
    var views: [ProgressTracker.View]
    /// Body bytes of running requests that are out.
    var counters: [RequestNumbers.Number: Int64]
    /// Requests at the servers, and chunks that back off.
    var sending, waiting: Int
    var rateLimit: Int64?
    var elapsedMs: Int64
  }

  /// A look at the mark costs next to nothing; a count reads all that is left, and may take one part in a hundred of
  /// the time.
  private static let markEveryMs: Int64 = 1_000
  private static let countShare: Int64 = 100

  private let isHeard: Bool
  private let everyMs: Int64
  private var tracker = ProgressTracker()
  private var totals = ProgressTotals()
  private var nextMs: Int64 = 0
  /// nil when what the run itself did calls for a count.
  private var mark: ChangeMark?
  private var nextMarkMs: Int64 = 0
  /// When the running count was asked for; nil when none runs.
  private var countAskedMs: Int64?
  private var nextCountMs: Int64 = 0

  /// Nobody is told anything when it is not heard.
  init(isHeard: Bool, everyMs: Int64) {
    self.isHeard = isHeard
    self.everyMs = everyMs
  }

  /// The first count, before anything is claimed.
  mutating func countAtStart(_ ledger: Ledger) throws(TransferError) {
    guard isHeard else { return }
    totals.askedForCount()
    let (size, mark) = try ledger.read { reader in (try reader.workSize(), try reader.changeMark()) }
    totals.counted(size)
    self.mark = mark
  }

  /// When the next report is due; nil when nobody listens.
  var dueMs: Int64? { isHeard ? nextMs : nil }

  /// Whether a report is to be made now; the next is due a while later.
  mutating func takesReport(nowMs: Int64, force: Bool) -> Bool {
    guard isHeard, force || nowMs >= nextMs else { return false }
    nextMs = nowMs + everyMs
    return true
  }

  /// Whether the ledger is to be looked at for changes by others now.
  mutating func takesLook(nowMs: Int64) -> Bool {
    guard nowMs >= nextMarkMs else { return false }
    nextMarkMs = nowMs + Self.markEveryMs
    return countAskedMs == nil && nowMs >= nextCountMs
  }

  /// Whether the ledger is to count again: somebody added files or did something to them. The count has to see all that
  /// this run knows now, and nothing of it that comes later.
  mutating func takesCount(_ new: ChangeMark, nowMs: Int64) -> Bool {
    guard new != mark else { return false }
    mark = new
    countAskedMs = nowMs
    totals.askedForCount()
    return true
  }

  /// A count that failed is left out: it is for display, and what is wrong with the ledger will be told by a
  /// transition.
  mutating func counted(_ result: Result<WorkSize, TransferError>, nowMs: Int64) {
    let took = nowMs - (countAskedMs ?? nowMs)
    countAskedMs = nil
    nextCountMs = nowMs + took * Self.countShare
    if case .success(let size) = result { totals.counted(size) }
  }

  /// What this run did to its files calls for a count.
  mutating func needsCount() { mark = nil }

  /// The server holds so many bytes more, or fewer.
  mutating func stored(bytes: Int64) { totals.stored(bytes: bytes) }

  /// A file has ended: done, failed or unknown.
  mutating func ended(size: Int64, bytesAcked: Int64) { totals.ended(size: size, bytesAcked: bytesAcked) }

  /// A file that has ended failed, or its outcome is unknown.
  mutating func failed(_ file: @autoclosure () -> FileProgress, nowMs: Int64) {
    if isHeard { tracker.noteFailure(file(), atMs: nowMs) }
  }

  /// A request of the file is tried again at `dueMs`, in milliseconds since 1970.
  mutating func retried(_ file: @autoclosure () -> FileProgress, dueMs: Int64) {
    if isHeard { tracker.noteRetry(file(), dueMs: dueMs) }
  }

  mutating func snapshot(_ standing: Standing, bootMs: Int64, wallMs: Int64) -> ProgressSnapshot {
    var snapshot = ProgressSnapshot()
    totals.fill(&snapshot)
    let look = tracker.look(standing.views, counters: standing.counters, bootMs: bootMs, wallMs: wallMs)
    snapshot.filesDone = standing.result.done
    snapshot.filesFailed = standing.result.failed
    snapshot.filesUnknown = standing.result.unknown
    snapshot.active = standing.views.count
    snapshot.sending = standing.sending
    snapshot.retrying = look.waitingOutside + standing.waiting
    snapshot.bytesInFlight = look.bytesInFlight
    snapshot.waitingForServerMs = look.waitingForServerMs
    snapshot.rateLimit = standing.rateLimit
    snapshot.elapsedMs = standing.elapsedMs
    snapshot.files = look.files
    return snapshot
  }
}
