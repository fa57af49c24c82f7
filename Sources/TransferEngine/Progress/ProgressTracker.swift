import TransferModel

/// Selects the files of a run to display, and their status. A value: the engine passes in its observations and the
/// times. It stores only what a single observation cannot show: since when nothing has moved, why a file backs off, and
/// which file has just failed.
struct ProgressTracker: Sendable {
  typealias RequestID = Scheduler.RequestID

  /// An active file at one moment.
  struct View: Sendable {
    var id: FileID
    var path: NameBytes
    var size: Int64
    var bytesAcked: Int64
    /// Running requests with a body, and the lengths of their bodies.
    var sending: [(request: RequestID, length: Int64)] = []
    /// Since when the finishing request has been running, in boot milliseconds; nil for none.
    var finishingSinceMs: Int64?
    /// When the first of its backoffs ends, in wall milliseconds.
    var dueMs: Int64?
    /// A request of it is running, with or without a body.
    var isBusy = false
  }

  struct Look: Sendable, Hashable {
    var files: [FileProgress] = []
    var bytesInFlight: Int64 = 0
    /// Files that back off in the ledger.
    var waitingOutside = 0
    /// How long the longest wait has lasted, if every active file only waits for its server.
    var waitingForServerMs: Int64?
  }

  static let listLimit = 64
  static let stallMs: Int64 = 10_000
  /// Faster answers are not shown as waiting.
  static let answerMs: Int64 = 1_000
  static let failureShownMs: Int64 = 10_000
  private static let retryLimit = 1_000
  private static let failureLimit = 8

  private struct Retry: Sendable {
    var file: FileProgress
    var dueMs: Int64
  }

  private var retries: [FileID: Retry] = [:]
  private var failures: [(file: FileProgress, atMs: Int64)] = []
  private var inFlight: [RequestID: Int64] = [:]
  private var moved: [FileID: (bytes: Int64, sinceMs: Int64)] = [:]

  /// A request failed and is to be repeated from `dueMs` (wall) on.
  mutating func noteRetry(_ file: FileProgress, dueMs: Int64) {
    guard retries.count < Self.retryLimit || retries[file.id] != nil else { return }
    retries[file.id] = Retry(file: file, dueMs: dueMs)
  }

  mutating func noteFailure(_ file: FileProgress, atMs: Int64) {
    retries[file.id] = nil
    failures.append((file, atMs))
    if failures.count > Self.failureLimit { failures.removeFirst() }
  }

  /// The files at this moment. `counters` are the transport's bytes by request; `bootMs` and `wallMs` are the current
  /// times.
  mutating func look(_ views: [View], counters: [RequestID: Int64], bootMs: Int64, wallMs: Int64) -> Look {
    retries = retries.filter { $0.value.dueMs > wallMs }
    failures.removeAll { bootMs - $0.atMs >= Self.failureShownMs }
    var look = Look()
    var nowInFlight: [RequestID: Int64] = [:]
    var nowMoved: [FileID: (bytes: Int64, sinceMs: Int64)] = [:]
    var inside: Set<FileID> = []
    var waits: [Int64] = []
    for view in views {
      inside.insert(view.id)
      var bytes: Int64 = 0
      for (request, length) in view.sending {
        // A request that has just ended has no counter any more, but its answer was not processed yet.
        let count = min(counters[request] ?? inFlight[request] ?? 0, length)
        nowInFlight[request] = count
        bytes += count
      }
      look.bytesInFlight += bytes
      var since = bootMs
      if let before = moved[view.id], before.bytes == view.bytesAcked + bytes { since = before.sinceMs }
      nowMoved[view.id] = (view.bytesAcked + bytes, since)
      let phase = phase(view, inFlight: bytes, sinceMs: since, bootMs: bootMs, wallMs: wallMs)
      if case .waitingForServer(let ms) = phase { waits.append(ms) }
      look.files.append(
        FileProgress(
          id: view.id, path: view.path, bytesTotal: view.size, bytesAcked: view.bytesAcked, bytesInFlight: bytes,
          phase: phase))
    }
    look.waitingForServerMs = waits.count == views.count ? waits.max() : nil
    (inFlight, moved) = (nowInFlight, nowMoved)
    let outside = retries.values.filter { !inside.contains($0.file.id) }
    look.waitingOutside = outside.count
    look.files += outside.map { Self.counted(down: $0, wallMs) }
    look.files += failures.map(\.file)
    look.files = Array(look.files.sorted(by: Self.isBefore).prefix(Self.listLimit))
    return look
  }

  private func phase(
    _ view: View, inFlight: Int64, sinceMs: Int64, bootMs: Int64, wallMs: Int64
  ) -> FileProgress.Phase {
    let idleMs = bootMs - sinceMs
    if let since = view.finishingSinceMs {
      return bootMs - since >= Self.answerMs ? .waitingForServer(forMs: bootMs - since) : .finishing
    }
    let isAllOut = !view.sending.isEmpty && view.bytesAcked + inFlight >= view.size
    if isAllOut, idleMs >= Self.answerMs { return .waitingForServer(forMs: idleMs) }
    if !view.isBusy, view.dueMs != nil, let retry = retries[view.id] { return Self.counted(down: retry, wallMs).phase }
    return view.isBusy && idleMs >= Self.stallMs ? .stalled(forMs: idleMs) : .sending
  }

  private static func counted(down retry: Retry, _ wallMs: Int64) -> FileProgress {
    var file = retry.file
    if case .retrying(_, let code, let number, let limit) = file.phase {
      file.phase = .retrying(inMs: max(0, retry.dueMs - wallMs), code, number: number, limit: limit)
    }
    return file
  }

  /// Files that need attention come first, then the longest ones; files of one kind keep their order.
  private static func isBefore(_ a: FileProgress, _ b: FileProgress) -> Bool {
    if a.phase.rank != b.phase.rank { return a.phase.rank < b.phase.rank }
    let left = (a.bytesTotal - a.bytesAcked, b.bytesTotal - b.bytesAcked)
    return left.0 == left.1 ? a.id.rawValue < b.id.rawValue : left.0 > left.1
  }
}

extension FileProgress.Phase {
  fileprivate var rank: Int {
    switch self {
    case .failed: 0
    case .retrying: 1
    case .stalled: 2
    case .sending, .finishing, .waitingForServer: 3
    }
  }
}
