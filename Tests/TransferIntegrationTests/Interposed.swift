import TransferEngine
import TransferLedger
import TransferModel
import TransferProtocols

@testable import Transfers

/// An engine in this process, with a test interposed between its parts.
extension Scene {
  /// Works until nothing is left to do. Appends what is to be shown to a person to `told`.
  func work(
    with resolver: any DestinationResolver, workers: Int = 1, clock: any TransferClock = SystemClock(),
    told: Lock<[Notice]>? = nil, _ change: (inout EngineConfiguration) -> Void = { _ in }
  ) throws -> RunResult {
    var configuration = EngineConfiguration(workers: workers)
    change(&configuration)
    let ledger = try Ledger.open(at: storePath, mode: .existing, clock: clock)
    defer { ledger.close() }
    let run = try ledger.startRun(NewRun(argv: ["test"], version: "0", host: "here", bootID: "b", pid: 1))
    let observer = EngineObserver(progress: nil) { notice in told?.withLock { $0.append(notice) } }
    let engine = Engine(
      ledger: ledger, run: run, resolver: resolver, clock: clock, configuration: configuration, observer: observer)
    return try engine.work(until: StopSignal())
  }

  func fileRows() throws -> [FileRow] {
    let ledger = try Ledger.open(at: storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    return try ledger.read { try $0.files(RowFilter(), after: 0, limit: 100) }
  }
}

/// The destinations of the program, with a hook before each of their requests or before each that sends bytes of a
/// source, S3 keys that nobody checks, or an error in place of a destination.
final class Interposed: DestinationResolver, CredentialSource {
  private let destinations = CurlDestinations()
  private let beforeStart: @Sendable () -> Void
  private let beforeBody: @Sendable () -> Void
  private let refusal: @Sendable (BatchSettings) -> TransferError?
  let label = "test"

  init(
    beforeStart: @escaping @Sendable () -> Void = {}, beforeBody: @escaping @Sendable () -> Void = {},
    refusal: @escaping @Sendable (BatchSettings) -> TransferError? = { _ in nil }
  ) {
    (self.beforeStart, self.beforeBody, self.refusal) = (beforeStart, beforeBody, refusal)
  }

  deinit { destinations.stop() }

  func resolve(_ settings: BatchSettings) throws(TransferError) -> ResolvedDestination {
    if let error = refusal(settings) { throw error }
    var resolved = try destinations.resolve(settings)
    if settings.destination.hasPrefix("s3") { resolved.credentials = self }
    resolved.transport = InterposedTransport(
      inner: resolved.transport, beforeStart: beforeStart, beforeBody: beforeBody)
    return resolved
  }

  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential? {
    .aws(accessKey: "AKIDEXAMPLE", secretKey: "of nobody at all", sessionToken: nil)
  }
  func refresh() {}
}

private final class InterposedTransport: Transport {
  private let inner: any Transport
  private let beforeStart: @Sendable () -> Void
  private let beforeBody: @Sendable () -> Void

  init(
    inner: any Transport, beforeStart: @escaping @Sendable () -> Void, beforeBody: @escaping @Sendable () -> Void
  ) {
    (self.inner, self.beforeStart, self.beforeBody) = (inner, beforeStart, beforeBody)
  }

  func start(_ id: ExchangeID, _ request: TransferRequest, onReply: @escaping @Sendable (TransferReply) -> Void) {
    beforeStart()
    if case .source = request.body { beforeBody() }
    inner.start(id, request, onReply: onReply)
  }
  func cancel(_ id: ExchangeID) { inner.cancel(id) }
  func setRate(bytesPerSecond: Int64?, of group: RateGroup?) {
    inner.setRate(bytesPerSecond: bytesPerSecond, of: group)
  }
  func bytesInFlight() -> [ExchangeID: Int64] { inner.bytesInFlight() }
  func stop() { inner.stop() }
}
