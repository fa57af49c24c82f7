import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One engine run from the command line: progress, signals, the exit code. Made before any other thread is started.
struct EngineSession {
  let common: CommonOptions
  private let progress: ProgressOptions
  let context: Context
  let reporter: ProgressReporter
  private let signals: SignalWatch
  /// Those of all engines of this session.
  private let callbacks: RunCallbacks

  /// - Parameter callbacks: of a caller who finishes them; otherwise ``end()`` does.
  init(
    _ common: CommonOptions, _ progress: ProgressOptions, title: String, _ context: Context,
    callbacks: RunCallbacks = RunCallbacks()
  ) {
    self.common = common
    self.callbacks = callbacks
    self.progress = progress
    self.context = context
    signals = context.signals ?? SignalWatch()
    reporter = ProgressReporter(context.err, ProgressLook(progress, common, context), clock: context.clock)
    reporter.setTitle(title)
    signals.remark { [reporter] signal in signal == SIGCONT ? reporter.resumed() : reporter.status() }
  }

  /// Transfers until nothing is left or a signal requests a stop.
  func run(_ storePath: String, _ options: RunOptions) throws(TransferError) -> RunResult {
    let stop = StopSignal()
    listen(stop)
    var options = options
    (options.drainMs, options.progressEveryMs) = (progress.drainTimeout.ms, reporter.everyMs)
    options.diskWaitMs = progress.diskWait.ms
    options.ownsProcess = true
    options.callbacks = callbacks
    defer {
      reporter.finish()
      listenAfterwards()
    }
    return try context.store(storePath).run(
      options, progress: { [reporter] in reporter.progress($0) }, notice: { [reporter] in reporter.notice($0) },
      stop: stop)
  }

  /// Waits for callbacks, which have one deadline, however many engines there were. A signal ends the wait.
  func end() {
    callbacks.finish(isStopped: isStopRequested)
  }

  /// Whether a stop was requested by now; for any thread.
  var isStopRequested: @Sendable () -> Bool { { [signals] in signals.received.count > 0 } }

  /// Before the engine runs, a signal ends the process, which may be waiting for a lock. One that was caught since an
  /// earlier run of this session stops this run, too.
  private func listen(_ stop: StopSignal) {
    signals.handle { [reporter] signal, count in
      guard stop.isHeard else { return false }
      if count == 1 {
        reporter.stopAsked(by: signal)
        stop.drain()
      } else {
        stop.stopNow()
      }
      return true
    }
    let earlier = signals.received.count
    if earlier > 0 { earlier == 1 ? stop.drain() : stop.stopNow() }
  }

  /// Between runs of this session, and after the last: what is recorded still has to be told.
  private func listenAfterwards() {
    signals.handle { [reporter] _, _ in
      reporter.announce("stopping; no further file is begun")
      return true
    }
  }

  /// While another engine does the work: a signal only ends the waiting.
  func listenWhileWaiting() {
    signals.handle { [reporter] _, _ in
      reporter.announce("stopped waiting; the engine that owns the ledger continues")
      return true
    }
  }

  /// Whether a stop was requested.
  var isStopping: Bool { signals.received.count > 0 }

  /// The signal for an immediate stop: the second one. The process then ends by this signal; a lost terminal counts as
  /// SIGTERM.
  var stoppingSignal: Int32? {
    guard case (let signal?, let count) = signals.received, count > 1 else { return nil }
    return signal == SIGINT ? SIGINT : SIGTERM
  }
}
