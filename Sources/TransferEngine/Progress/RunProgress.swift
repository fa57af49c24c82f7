import TransferLedger
import TransferModel

/// Progress reports of a run. Nothing is computed between two reports, and nothing at all without an observer. A value;
/// times are milliseconds of the boot clock.
struct RunProgress: Sendable {
  /// Input of a report, besides the state kept here.
  struct Input {
    /// Of this run so far.
    var result: RunResult
    /// Files with a running request, or in backoff.
    var views: [ProgressTracker.View]
    /// Sent body bytes of running requests.
    var counters: [RequestNumbers.Number: Int64]
    /// Running requests, and chunks in backoff.
    var sending, waiting: Int
    var rateLimit: Int64?
    var elapsedMs: Int64
  }

  /// Reading the mark is cheap; a count reads all unfinished files, and may take at most one hundredth of the time.
  private static let markEveryMs: Int64 = 1_000
  private static let countShare: Int64 = 100

  private let isHeard: Bool
  private let everyMs: Int64
  private var tracker = ProgressTracker()
  private var totals = ProgressTotals()
  private var nextMs: Int64 = 0
  /// nil if an action of the run itself requires a new count.
  private var mark: ChangeMark?
  private var nextMarkMs: Int64 = 0
  /// When the running count was requested; nil if none is running.
  private var countAskedMs: Int64?
  private var nextCountMs: Int64 = 0

  /// Without an observer (`isHeard` is false) no reports are made.
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

  /// When the next report is due; nil without an observer.
  var dueMs: Int64? { isHeard ? nextMs : nil }

  /// Whether a report is due now; if so, schedules the next one.
  mutating func takesReport(nowMs: Int64, force: Bool) -> Bool {
    guard isHeard, force || nowMs >= nextMs else { return false }
    nextMs = nowMs + everyMs
    return true
  }

  /// Whether the ledger is to be checked for changes by other processes now.
  mutating func takesLook(nowMs: Int64) -> Bool {
    guard nowMs >= nextMarkMs else { return false }
    nextMarkMs = nowMs + Self.markEveryMs
    return countAskedMs == nil && nowMs >= nextCountMs
  }

  /// Whether a new count is needed because somebody added or changed files. The count includes everything that this run
  /// knows now, and nothing later.
  mutating func takesCount(_ new: ChangeMark, nowMs: Int64) -> Bool {
    guard new != mark else { return false }
    mark = new
    countAskedMs = nowMs
    totals.askedForCount()
    return true
  }

  /// A failed count is ignored: it is for display only, and problems of the ledger will show at the next transition.
  mutating func counted(_ result: Result<WorkSize, TransferError>, nowMs: Int64) {
    let took = nowMs - (countAskedMs ?? nowMs)
    countAskedMs = nil
    nextCountMs = nowMs + took * Self.countShare
    if case .success(let size) = result { totals.counted(size) }
  }

  /// An action of this run on its files requires a new count.
  mutating func needsCount() { mark = nil }

  /// The number of bytes stored on the server increased or decreased by this amount.
  mutating func stored(bytes: Int64) { totals.stored(bytes: bytes) }

  /// A file has ended: done, failed or unknown.
  mutating func ended(size: Int64, bytesAcked: Int64) { totals.ended(size: size, bytesAcked: bytesAcked) }

  /// A file has ended as failed or unknown.
  mutating func failed(_ file: @autoclosure () -> FileProgress, nowMs: Int64) {
    if isHeard { tracker.noteFailure(file(), atMs: nowMs) }
  }

  /// A request of the file is tried again at `dueMs`, in milliseconds since 1970.
  mutating func retried(_ file: @autoclosure () -> FileProgress, dueMs: Int64) {
    if isHeard { tracker.noteRetry(file(), dueMs: dueMs) }
  }

  mutating func snapshot(_ input: Input, bootMs: Int64, wallMs: Int64) -> ProgressSnapshot {
    var snapshot = ProgressSnapshot()
    totals.fill(&snapshot)
    let look = tracker.look(input.views, counters: input.counters, bootMs: bootMs, wallMs: wallMs)
    snapshot.filesDone = input.result.done
    snapshot.filesFailed = input.result.failed
    snapshot.filesUnknown = input.result.unknown
    snapshot.active = input.views.count
    snapshot.sending = input.sending
    snapshot.retrying = look.waitingOutside + input.waiting
    snapshot.bytesInFlight = look.bytesInFlight
    snapshot.waitingForServerMs = look.waitingForServerMs
    snapshot.rateLimit = input.rateLimit
    snapshot.elapsedMs = input.elapsedMs
    snapshot.files = look.files
    return snapshot
  }
}
