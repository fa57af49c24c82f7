import CurlTransport
import TransferEngine
import TransferLedger
package import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A store, given by its path, and operations on it as a whole: recording and sending files. Everything blocks; call it
/// from a plain thread. ``TransferClient`` offers the same for Swift tasks.
package struct TransferStore: Sendable {
  package let path: String
  /// Supplies credentials of a program; nil to use what is recorded with the batches.
  let hook: CredentialHook?
  let machine: Machine

  package init(at path: String, credentials hook: CredentialHook? = nil, on machine: Machine = .this) {
    (self.path, self.hook, self.machine) = (path, hook, machine)
  }

  /// - Parameter clock: nil for the machine's.
  func open(_ mode: Ledger.OpenMode, clock: (any TransferClock)? = nil) throws(TransferError) -> Ledger {
    try Ledger.open(at: path, mode: mode, clock: clock ?? machine.clock, keeping: machine.connections?.kept)
  }

  /// Works until nothing is left, `stop` is requested, or no destination can be reached. Everything counted in the
  /// result is durable on return. A batch that cannot be sent does not delay others; the result names it with its
  /// error.
  /// - Throws: `.locked` when another engine owns the ledger; errors of the store.
  package func run(
    _ options: RunOptions, progress: (@Sendable (ProgressSnapshot) -> Void)?,
    notice: @escaping @Sendable (Notice) -> Void, stop: StopSignal
  ) throws(TransferError) -> RunResult {
    if options.ownsProcess { OpenFileLimit.raise() }
    let clock = SteadyClock(machine.clock)
    let shared = try options.rateGroup.map { name throws(TransferError) in try SharedRate(name, in: RateFolder.path) }
    defer { shared?.leave() }
    let ledger = try open(.existing, clock: clock)
    var isKept = false
    defer { if !isKept { ledger.close() } }
    // From then on a signal does not end the process: the end of the run is to be recorded.
    let hears = { @Sendable in stop.onRequest { _ in } }
    let run = try ledger.startRun(Self.newRun(options.argv, clock), turn: options.turn?.place, beginning: hears)
    if options.trustsCopy { _ = try ledger.write { tx in try tx.trustCopy(run) } }
    let doubtful = try ledger.read { reader in try reader.doubtfulFiles() }
    if doubtful > 0 { notice(.remark(Self.copyRemark(doubtful))) }
    var configuration = Self.configuration(options)
    configuration.sharedRate = shared
    let copies = StagedCopies(storePath: path)
    configuration.copies = copies
    try Self.settle(copies, ledger, stop, notice)
    let resolver = CurlDestinations(connections: configuration.workers, hook: hook, carriedBy: machine.transport)
    defer { resolver.stop() }
    let engine = Engine(
      ledger: ledger, run: run, resolver: resolver, clock: clock, configuration: configuration,
      observer: EngineObserver(progress: progress, notice: notice))
    let callbacks = options.callbacks ?? RunCallbacks()
    isKept = try callbacks.start(ledger, on: machine, clock: clock)
    defer {
      // Receivers may be slow, and another engine may have work: deliveries have a lock of their own.
      ledger.releaseEngine()
      shared?.leave()
      options.whenEnded?()
      if options.callbacks == nil { callbacks.finish { stop.isAsked } }
    }
    let result = try engine.work(until: stop)
    // Copies that cannot be removed now are removed by the next run.
    try? copies.sweep(ledger)
    return result
  }

  private static func configuration(_ options: RunOptions) -> EngineConfiguration {
    var configuration = options.workers.map { EngineConfiguration(workers: $0) } ?? .chosen
    configuration.rate = options.rates ?? RateTimetable(options.rate)
    configuration.claimsFiles = !options.onlyEndsSessions
    configuration.awaited = options.awaited
    configuration.leftJobs = options.leftJobs
    configuration.drainMs = options.drainMs
    configuration.maxDurationMs = options.maxDurationMs
    configuration.maxBytes = options.maxBytes
    configuration.waitsForSettling = options.waitsForSettling
    configuration.diskWaitMs = options.diskWaitMs
    configuration.progressEveryMs = options.progressEveryMs
    configuration.preparingThreads = max(1, HostFacts.coreCount - 1)
    return configuration
  }

  /// Makes the copies of files that an interrupted `add` has left without one.
  private static func settle(
    _ copies: StagedCopies, _ ledger: Ledger, _ stop: StopSignal, _ notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) {
    do throws(TransferError) {
      try copies.settleLeft(ledger, isStopped: { stop.isAsked }, notice: notice)
    } catch {
      // These files keep waiting, and do not delay others.
      guard error.kind == .storeIO else { throw error }
      notice(.remark("\(error)"))
    }
  }

  private static func copyRemark(_ files: Int) -> String {
    let waiting = files == 1 ? "the file that was waiting in it" : "the \(files) files that were waiting in it"
    return """
      this ledger is a copy or was restored from one. The original may have sent \(waiting); if the server cannot \
      be queried, they become unknown, and downloads begin again, unless --trust-copy says that the original was not \
      used since. Files that were added to the original later are not in this ledger
      """
  }

  static func newRun(_ argv: [String], _ clock: any TransferClock = SystemClock()) -> NewRun {
    NewRun(
      argv: argv, version: TransferClient.version, host: HostFacts.name, bootID: HostFacts.bootID, pid: getpid(),
      bootMs: clock.bootMs)
  }
}
