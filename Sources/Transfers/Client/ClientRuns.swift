public import TransferModel

/// When a run of the engine ends on its own.
public enum RunGoal: Sendable, Hashable {
  /// When nothing is left that can be sent now.
  case idle
  /// Only when it is stopped: files that are added, resumed or due later are sent too.
  case stopped
}

extension TransferClient {
  /// Sends the files recorded in the store by this client or others. Ends on `stop` or when the task is cancelled,
  /// after finishing what is being sent. Everything counted in the result is durable. A batch that cannot be sent does
  /// not delay others; the result names it with its error. The limits of the options in time and bytes are those of the
  /// whole call, whatever the goal: a run until it is stopped ends when one of them is reached.
  /// - Throws: `.locked` when another engine owns the store; errors of the store.
  public func run(
    until goal: RunGoal = .idle, _ options: RunOptions = RunOptions(), stop: StopSignal = StopSignal(),
    notice: @escaping @Sendable (Notice) -> Void = { _ in }
  ) async throws(TransferError) -> RunResult {
    let result = await withTaskCancellationHandler {
      await Result { () async throws(TransferError) in try await work(goal, options, stop, notice) }
    } onCancel: {
      stop.drain()
    }
    return try result.get()
  }

  /// Progress of the engine that runs in this client, at most ten times a second. Always the newest snapshot: a slow
  /// reader misses some. For a run in another process, use ``progress(of:)``. Ends with the client.
  public func engineProgress() -> AsyncStream<ProgressSnapshot> { latest.stream() }

  /// Callbacks are delivered also between engines, and are waited for once, after the last.
  private func work(
    _ goal: RunGoal, _ options: RunOptions, _ stop: StopSignal, _ notice: @escaping @Sendable (Notice) -> Void
  ) async throws(TransferError) -> RunResult {
    let callbacks = RunCallbacks()
    var options = options
    options.callbacks = callbacks
    let result = await Result { [options] () async throws(TransferError) in
      try await engines(goal, options, stop, notice)
    }
    try await pool.run { callbacks.finish { stop.isAsked } }
    return try result.get()
  }

  private func engines(
    _ goal: RunGoal, _ options: RunOptions, _ stop: StopSignal, _ notice: @escaping @Sendable (Notice) -> Void
  ) async throws(TransferError) -> RunResult {
    let endMs = options.maxDurationMs.map { clock.awakeMs +| $0 } ?? .max
    var (sum, rest) = (RunResult(), options)
    while true {
      let result = try await pool.run { [files, latest, rest] () throws(TransferError) in
        defer { latest.forget() }
        return try files.run(rest, progress: { latest.tell($0) }, notice: notice, stop: stop)
      }
      sum.add(result)
      guard goal == .stopped, result.stoppedBy != .limit else { return sum }
      rest.maxBytes = options.maxBytes.map { $0 - sum.bytesTransferred }
      let hasBytes = rest.maxBytes.map { $0 > 0 } ?? true
      guard hasBytes, try await hasWork(after: result, beforeMs: endMs, stop) else {
        if !stop.isAsked { sum.stoppedBy = .limit }
        return sum
      }
      if options.maxDurationMs != nil { rest.maxDurationMs = max(1, endMs - clock.awakeMs) }
    }
  }

  /// Waits until there is something to send; false when asked to stop, and at the end of the call by the clock that
  /// stops while the machine sleeps.
  private func hasWork(
    after result: RunResult, beforeMs endMs: Int64, _ stop: StopSignal
  ) async throws(TransferError) -> Bool {
    let rest = RunRest(after: result, event: try await read { try $0.newestNumbers().event }, clock)
    var pace = WatchPace(clock)
    while !stop.isAsked, clock.awakeMs < endMs {
      if try await watch.once(&pace, { try rest.isOver($0) ? true : nil }) != nil { return true }
      try? await Task.sleep(for: .milliseconds(pace.rest() ?? WatchPace.stepMs))
    }
    return false
  }
}

/// Decides when an idle engine has work again.
struct RunRest: Sendable {
  private let clock: any TransferClock
  /// The newest event when the engine became idle.
  private let event: Int64
  /// The earliest time, by the boot clock, to retry what could not be sent, unless a new event is recorded first.
  private let untilMs: Int64
  /// The earliest time to retry callbacks and removals: a receiver that is paused has some that are due.
  private let upkeepMs: Int64

  init(after result: RunResult, event: Int64, _ clock: any TransferClock) {
    (self.event, self.clock) = (event, clock)
    let hadTrouble = result.error != nil || [.unreachable, .quota].contains(result.stoppedBy)
    untilMs = clock.bootMs + (hadTrouble ? 60_000 : 0)
    upkeepMs = clock.bootMs + 60_000
  }

  func isOver(_ reader: StoreReader) throws -> Bool {
    guard try clock.bootMs >= untilMs || reader.newestNumbers().event > event else { return false }
    let nowMs = clock.wallMs
    // An engine would not begin a file of these.
    var held = Set(try reader.overdueBatches(RowFilter(), nowMs: nowMs).map(\.id))
    for job in try reader.jobsAtQuota(nowMs: nowMs) { held.formUnion(try reader.unfinished(ofJob: job).files.batches) }
    if try reader.hasReadyFiles(without: held) { return true }
    if clock.bootMs >= upkeepMs, try reader.isUpkeepDue(nowMs: nowMs) { return true }
    return try reader.nextDueMs(without: held).map { $0 <= nowMs } ?? false
  }
}

extension RunResult {
  /// Combines consecutive runs: adds up their work; the remaining files are those of the last run.
  fileprivate mutating func add(_ next: RunResult) {
    let before = self
    self = next
    done += before.done
    failed += before.failed
    unknown += before.unknown
    mismatched += before.mismatched
    bytesAcked += before.bytesAcked
    bytesTransferred += before.bytesTransferred
    bytesReused += before.bytesReused
    retries += before.retries
    wallMs += before.wallMs
  }
}

extension Result where Failure == TransferError {
  fileprivate init(_ body: () async throws(TransferError) -> Success) async {
    do throws(TransferError) { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
