import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine
@testable import TransferLedger

/// The owners of a run on a new ledger, without the loop that drives them. A test calls the owner that it is about,
/// answers in place of the server, and has everything else that follows carried out by ``settle()``.
final class RunFixture {
  let folder: TemporaryFolder
  let clock = RunClock()
  let ledger: Ledger
  let server = ScriptedServer()
  let engine: Engine
  let loop: EngineLoop
  private let heard = Lock<[Notice]>([])

  var notices: [Notice] { heard.withLock { $0 } }

  init(_ change: (inout EngineConfiguration) -> Void = { _ in }) throws {
    folder = try TemporaryFolder()
    ledger = try Ledger.open(at: "\(folder.path)/transfers.db", mode: .create, clock: clock)
    let run = try ledger.startRun(NewRun(argv: ["run"], version: "0", host: "here", bootID: "b", pid: 1))
    var configuration = EngineConfiguration(workers: 4)
    change(&configuration)
    let observer = EngineObserver(progress: nil) { [heard] notice in heard.withLock { $0.append(notice) } }
    engine = Engine(
      ledger: ledger, run: run, resolver: server, clock: clock, configuration: configuration, observer: observer)
    loop = try EngineLoop(engine: engine)
  }

  deinit {
    loop.close()
    ledger.close()
  }

  /// Records a batch with files of `size` bytes.
  @discardableResult func add(
    _ names: String..., to host: String = "one", size: Int = 10, _ change: (inout BatchSettings) -> Void = { _ in }
  ) throws -> BatchID {
    try add(names, to: host, size: size, change)
  }

  @discardableResult func add(
    _ names: [String], to host: String = "one", size: Int = 10, _ change: (inout BatchSettings) -> Void = { _ in }
  ) throws -> BatchID {
    var settings = BatchSettings(destination: host)
    change(&settings)
    var page = AdmissionPage()
    for name in names {
      folder.write(NameBytes("/" + name), String(repeating: "x", count: size))
      let path = folder.path.appending(NameBytes("/" + name))
      let identity = try SourceFile(path: path).identity
      path.bytes.withUnsafeBytes { path in
        Array(name.utf8).withUnsafeBytes { page.append(path: path, key: $0, identity, mode: 0o600) }
      }
    }
    let batch = NewBatch(settings: settings, protocolName: "test", destination: host)
    let target = AdmissionTarget(batch, since: try ledger.read { try $0.addedMark() }, wallMs: clock.wallMs)
    _ = try ledger.write { [page] tx in try tx.admit(page, to: target) }
    return try #require(try ledger.read { try $0.lastBatch() })
  }

  /// Claims all ready files, without the engine's knowledge.
  func claim() throws -> [ClaimedFile] {
    try ledger.write { [run = engine.run] tx in try tx.claimFiles(run, limit: 100) }
  }

  // MARK: - What follows

  /// Carries out what follows from calls and answers: files are claimed, requests prepared and sent, results recorded.
  /// Afterwards, only an answer, the passage of time or another call can change anything. Waits for nothing but events
  /// that are certain to come, because the work that posts them has begun.
  func settle() {
    repeat { carryOut() } while handleArrived()
  }

  private func carryOut() {
    if loop.stop.isStopping {
      loop.shutdown.goOn()
    } else {
      loop.beginMore()
      loop.sender.sendReady()
    }
    loop.commits.writeGathered()
  }

  /// Passes the events that have arrived, or are certain to arrive, to their owners.
  /// - Returns: whether there were any.
  @discardableResult func handleArrived() -> Bool {
    var hadEvents = false
    while let events = loop.mailbox.take(timeoutMs: isAwaitingEvent ? nil : 0), !events.isEmpty {
      for event in events { loop.handle(event) }
      hadEvents = true
    }
    return hadEvents
  }

  private var isAwaitingEvent: Bool {
    loop.claims.isClaiming || loop.commits.isWriting
      || loop.requests.all.values.contains { $0.phase == .preparing || $0.phase == .answered }
  }

  /// The server answers the oldest request, of a host if one is named, that it has not answered yet.
  func answer(_ status: Int, from host: String? = nil) {
    server.answer(status, from: host)
    settle()
  }

  /// The host accepts no connection for its oldest request.
  func refuseConnection(of host: String? = nil) {
    server.refuseConnection(of: host)
    settle()
  }

  // MARK: - What the ledger has

  /// State and cause of each file.
  func states() throws -> [String] {
    try ledger.read { reader in
      try reader.files(RowFilter(), after: 0, limit: 100).map {
        [$0.state, $0.cause].compactMap(\.self).joined(separator: " ")
      }
    }
  }

  /// Operation, outcome and error of each attempt.
  func attempts() throws -> [String] {
    try ledger.read { reader in
      try reader.attempts(RowFilter(), after: 0, limit: 100).map {
        [$0.operation, $0.outcome, $0.errorCode].compactMap(\.self).joined(separator: " ")
      }
    }
  }

  /// How long until the next waiting file is due, in milliseconds; nil for none.
  func dueInMs() throws -> Int64? { try ledger.read { try $0.nextDueMs() }.map { $0 - clock.wallMs } }

  func hasReadyFiles() throws -> Bool { try ledger.read { try $0.hasReadyFiles(without: []) } }
}

/// A clock that only tests advance.
final class RunClock: TransferClock {
  private let now = Lock<Int64>(1_700_000_000_000)
  var wallMs: Int64 { now.withLock { $0 } }
  var bootMs: Int64 { wallMs }
  func advance(ms: Int64) { now.withLock { $0 += ms } }
}
