import Receiver
import TransferEngine
import TransferLedger
import TransferModel
import TransferProtocols
import TransferTestSupport

@testable import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// One file on its way to a receiver with a fault script, with an engine that does not wait long and a clock that can
/// be set forward.
final class ConformanceScene {
  let subject: ConformanceSubject
  let scene: Scene
  let clock = MovableClock()
  /// Open for the lifetime of the scene, as a daemon has it: each opening reads the whole schema, which takes longer
  /// than a small upload.
  private let ledger: Ledger
  private(set) var content: [UInt8]
  /// The number of attempts in a row without progress that fail a file.
  var maxAttempts = 8
  /// The backoff before the first repetition, in milliseconds.
  var backoffMs: Int64 = 1
  /// The number of requests at a time.
  var workers = 4
  /// The source of the destination's secret.
  var auth: String?
  /// The time after which the server is queried about an awaited last request, in milliseconds.
  var askAfterMs: Int64 = 60_000
  /// How long the run waits while nothing can be done, and its limit, in milliseconds.
  var patienceMs: Int64 = 2_000
  var maxDurationMs: Int64?
  /// The batches for which the run waits; nil for all.
  var awaited: Set<BatchID>?

  /// The source is one file of `size` bytes.
  init(_ subject: ConformanceSubject, size: Int, script: String = "") throws {
    self.subject = subject
    scene = try Scene(script: script)
    ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: clock)
    content = []
    try write(size: size, seed: 1)
  }

  deinit { ledger.close() }

  func write(size: Int, seed: UInt64) throws {
    content = noise(size, seed: seed)
    try Scene.write(content, to: NameBytes("\(scene.root)/source/file.bin"))
  }

  @discardableResult func add(partSize: Int? = nil) throws -> AddResult {
    var settings = subject.settings(url: scene.url)
    settings.auth = auth
    if let partSize { settings.options["part-size"] = .number(Int64(partSize)) }
    let options = UploadOptions(settings: settings)
    return try TransferStore(at: scene.storePath).add([NameBytes("\(scene.root)/source")], options, notice: { _ in })
  }

  func plan() throws -> PlanResult {
    let options = UploadOptions(settings: subject.settings(url: scene.url))
    return try TransferStore(at: scene.storePath).plan([NameBytes("\(scene.root)/source")], options, notice: { _ in })
  }

  /// With `stopAt` a stop is requested when the credentials are requested for that many-th time: on the thread that
  /// prepares the request, before it checks the source.
  @discardableResult func run(stopAt: Int? = nil) throws -> RunResult {
    let stop = StopSignal()
    return try withLedger { ledger in
      let run = try ledger.startRun(
        NewRun(argv: ["test"], version: "0", host: "here", bootID: "b", pid: 1))
      var configuration = EngineConfiguration(workers: workers)
      configuration.retry = RetryPolicy(
        baseMs: backoffMs, throttleBaseMs: backoffMs, capMs: 5 * backoffMs, maxAttempts: maxAttempts)
      (configuration.patienceMs, configuration.maxDurationMs) = (patienceMs, maxDurationMs)
      (configuration.askAfterMs, configuration.awaited) = (askAfterMs, awaited)
      let resolver = CurlDestinations()
      defer { resolver.stop() }
      let engine = Engine(
        ledger: ledger, run: run,
        resolver: stopAt.map { StoppingDestinations(inner: resolver, credentials: $0, stop: stop) } ?? resolver,
        clock: clock, configuration: configuration, observer: EngineObserver(progress: nil, notice: { _ in }))
      return try engine.work(until: stop)
    }
  }

  /// A protocol may have to wait for a server, but not for hours.
  func runToEnd() throws {
    try run()
    let files = try look { try $0.files(RowFilter(), after: 0, limit: 1) }
    guard files.first?.state == "pending" else { return }
    wait(hours: 1)
    try run()
  }

  /// A run that `body` begins has no engine when it returns.
  func withLedger<Result>(_ body: (Ledger) throws -> Result) throws -> Result {
    defer { ledger.releaseEngine() }
    return try body(ledger)
  }

  func look<Result>(_ body: (LedgerReader) throws -> Result) throws -> Result { try ledger.read(body) }

  /// Runs beside an engine at work: waits for rows, which it reads as another process does, and releases requests.
  func meanwhile(_ body: @escaping @Sendable (Ledger, ReceiverServer) -> Void) throws -> WorkerThread {
    let reader = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: clock)
    return WorkerThread { [server = scene.server] in body(reader, server) }
  }

  /// Sets the clock forward, so that what waits is due.
  func wait(hours: Int64) { clock.advance(ms: hours * 3_600_000) }

  /// State and cause of each file, and the findings of the ledger's own check.
  func states() throws -> [String] {
    try look { reader in
      let files = try reader.files(RowFilter(), after: 0, limit: 10)
      let findings = try reader.check().map { "\($0.invariant): \($0.detail)" }
      return files.map { file in file.cause.map { "\(file.state) \($0)" } ?? "\(file.state)" } + findings
    }
  }

  func messages() throws -> [String] {
    try look { try $0.files(RowFilter(), after: 0, limit: 10).compactMap(\.message) }
  }

  func kept() throws -> [UInt8]? { try scene.kept(subject.keptIn + "file.bin") }

  func record() throws -> [ReceiverEvent] { try ReceiverRecord.read(path: "\(scene.root)/record.ndjson") }

  /// Counted in the text of the record: reading all of its lines takes as long as an upload.
  var requestCount: Int {
    get throws {
      let record = try Scene.read(NameBytes("\(scene.root)/record.ndjson"))
      let mark = Array(#"{"t":"start","#.utf8)
      return record.withUnsafeBytes { bytes in
        var (count, at) = (0, 0)
        while let end = memchr(bytes.baseAddress! + at, 0x0A, bytes.count - at) {
          if memcmp(bytes.baseAddress! + at, mark, min(mark.count, bytes.count - at)) == 0 { count += 1 }
          at = UnsafeRawPointer(end) - bytes.baseAddress! + 1
        }
        return count
      }
    }
  }

  /// The number of attempts in the ledger.
  var attemptCount: Int {
    get throws { try look { try $0.attempts(RowFilter(), after: 0, limit: 10_000).count } }
  }

  /// nil if the file is done and the receiver keeps exactly what the source holds; otherwise says what is wrong.
  func complaint() throws -> String? {
    let (requests, attempts) = (try requestCount, try attemptCount)
    if requests > attempts { return "the server got \(requests) requests, and the ledger knows \(attempts) attempts" }
    let states = try states()
    if states == ["done"] {
      guard let kept = try kept() else { return "done, and nothing is kept" }
      return areSame(kept, content) ? nil : "done, and \(kept.count) other bytes are kept instead of \(content.count)"
    }
    guard subject.mayBeUnknown, states.first?.hasPrefix("unknown") == true, states.count == 1 else {
      return "\(states) \(try messages())"
    }
    let before = try requestCount
    _ = try run()
    return try requestCount == before ? nil : "it is unknown, and something was sent again"
  }
}

/// The system's clock, which can be set forward, with or without a sleep of the machine.
final class MovableClock: TransferClock {
  private let offset = Lock<(total: Int64, asleep: Int64)>((0, 0))
  private let system = SystemClock()
  var wallMs: Int64 { system.wallMs + offsetMs }
  var bootMs: Int64 { system.bootMs + offsetMs }
  var awakeMs: Int64 { system.awakeMs + offset.withLock { $0.total - $0.asleep } }
  var offsetMs: Int64 { offset.withLock(\.total) }
  func advance(ms: Int64) { offset.withLock { $0.total += ms } }
  func sleep(ms: Int64) { offset.withLock { $0 = ($0.total + ms, $0.asleep + ms) } }
}

/// Requests a stop when credentials are requested.
private struct StoppingDestinations: DestinationResolver {
  let inner: any DestinationResolver
  let credentials: Int
  let stop: StopSignal

  func resolve(_ settings: BatchSettings) throws(TransferError) -> ResolvedDestination {
    var resolved = try inner.resolve(settings)
    resolved.credentials = StoppingCredentials(inner: resolved.credentials, left: Lock(credentials), stop: stop)
    return resolved
  }
}

private final class StoppingCredentials: CredentialSource {
  let inner: any CredentialSource
  let left: Lock<Int>
  let stop: StopSignal

  init(inner: any CredentialSource, left: Lock<Int>, stop: StopSignal) {
    (self.inner, self.left, self.stop) = (inner, left, stop)
  }

  var label: String { inner.label }
  func refresh() { inner.refresh() }
  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential? {
    let isLast = left.withLock { left in
      left -= 1
      return left == 0
    }
    if isLast { stop.drain() }
    return try inner.credential(isOver: isOver)
  }
}
