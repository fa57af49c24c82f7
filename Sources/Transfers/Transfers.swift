import CurlTransport
import TransferEngine
import TransferLedger
public import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The library: records uploads in a ledger and works them off. All calls block; call them from a plain thread.
public enum Transfers {
  public static let version = "0.1.0"

  /// Records the files below `sources` for the destination in `options`; touches no network. Durable on return; adding
  /// the same again records nothing twice.
  /// - Throws: `.usage`, `.config` and `.noSource` before anything is recorded; errors of the store.
  public static func add(
    _ sources: [NameBytes], _ options: UploadOptions, notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) -> AddResult {
    let target = try UploadTarget(options.settings)
    try checkExistence(sources)
    let ledger = try Ledger.open(at: options.storePath, mode: .create, clock: SystemClock())
    defer { ledger.close() }
    let batch = try createBatch(options, target, in: ledger)
    let counts = try SourceAdmitter(
      ledger: ledger, batch: batch, uploadProtocol: target.uploadProtocol, key: target.key,
      notice: { notice(Notice($0)) }
    ).admit(sources, rules: options.pathRules, followsSymlinks: options.followSymlinks)
    return AddResult(batch, counts)
  }

  /// Works until nothing is left, `stop` is asked for, or no destination can be reached. Everything that `result` counts is
  /// durable on return.
  /// - Throws: `.locked` when another engine owns the ledger; `.auth`, `.config`; errors of the store.
  public static func run(
    _ options: RunOptions, progress: (@Sendable (ProgressSnapshot) -> Void)?,
    notice: @escaping @Sendable (Notice) -> Void, stop: StopSignal
  ) throws(TransferError) -> RunResult {
    let clock = SystemClock()
    let ledger = try Ledger.open(at: options.storePath, mode: .existing, clock: clock)
    defer { ledger.close() }
    let run = try ledger.startRun(
      NewRun(
        argv: options.argv, version: version, host: HostFacts.name, bootID: HostFacts.bootID, pid: getpid()))
    var configuration = EngineConfiguration(workers: options.workers ?? 16)
    configuration.rate = options.rate
    configuration.drainMs = options.drainMs
    configuration.progressEveryMs = options.progressEveryMs
    configuration.preparingThreads = max(1, HostFacts.coreCount - 1)
    let resolver = CurlDestinations()
    defer { resolver.stop() }
    let engine = Engine(
      ledger: ledger, run: run, resolver: resolver, clock: clock, configuration: configuration,
      observer: EngineObserver(progress: progress, notice: { notice(Notice($0)) }))
    return RunResult(try engine.work(until: stop.inner))
  }

  private static func createBatch(
    _ options: UploadOptions, _ target: UploadTarget, in ledger: Ledger
  ) throws(TransferError) -> BatchID {
    let batch = NewBatch(
      name: options.name, settings: target.settings, protocolName: target.uploadProtocol.name,
      destination: target.settings.destination, place: target.uploadProtocol.location(ofKey: NameBytes("")),
      labels: options.labels, priority: options.priority)
    switch try ledger.write({ tx in try tx.createBatch(batch) }) {
    case .created(let id): return id
    case .exists(let id):
      let stored = try ledger.read { reader in try reader.batchSettings(id) }
      guard stored == target.settings else {
        throw TransferError(
          .usage, "add to batch", NameBytes(options.name ?? ""),
          cause: "batch \(id) of this name has another destination or other settings", remedy: "choose another --name")
      }
      return id
    }
  }

  /// Every source is there, before a ledger is made or a row is written.
  static func checkExistence(_ sources: [NameBytes]) throws(TransferError) {
    for source in sources {
      let missing = (source.bytes + [0]).withUnsafeBytes {
        access($0.baseAddress!.assumingMemoryBound(to: CChar.self), F_OK) != 0
      }
      guard missing else { continue }
      throw TransferError(
        .noSource, "read source", source, cause: String(cString: strerror(errno)).lowercased(),
        remedy: "check the path")
    }
  }
}
