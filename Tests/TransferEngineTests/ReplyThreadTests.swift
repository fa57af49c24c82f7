import Glibc
import HTTPTypes
import Testing
import TransferProtocols

@testable import TransferEngine
@testable import TransferLedger
@testable import TransferModel

/// Long answers are read on a thread other than the engine's, short ones on the engine's; their interpretation is the
/// same.
@Suite struct ReplyThreadTests {
  @Test(arguments: [(100, true), (60_000, false)])
  func longAnswersAreReadBesideTheLoop(length: Int, isOnLoop: Bool) throws {
    let folder = try TemporaryFolder()
    let source = folder.path.appending(NameBytes("a"))
    let identity = Self.makeFile(source)
    let ledger = try Ledger.open(at: "\(folder.path)/ledger.db", mode: .create, clock: SystemClock())
    defer { ledger.close() }
    let settings = BatchSettings(destination: "http://127.0.0.1:1/in/")
    let batch = NewBatch(
      settings: settings, protocolName: "put", destination: settings.destination)
    let target = AdmissionTarget(batch, since: .beginning, wallMs: SystemClock().wallMs)
    var page = AdmissionPage()
    source.bytes.withUnsafeBytes { path in
      Array("a".utf8).withUnsafeBytes { page.append(path: path, key: $0, identity, mode: 0) }
    }
    let files = page
    _ = try ledger.write { try $0.admit(files, to: target) }
    let run = try ledger.startRun(NewRun(argv: ["run"], version: "0", host: "h", bootID: "b", pid: 1))
    let threads = Lock<[pthread_t]>([])
    let listening = Listening(inner: try AllProtocols.make(settings, credentialsRegion: nil)) {
      threads.withLock { $0.append(pthread_self()) }
    }
    let engine = Engine(
      ledger: ledger, run: run, resolver: OneAnswer(transferProtocol: listening, length: length), clock: SystemClock(),
      configuration: EngineConfiguration(workers: 1), observer: EngineObserver(progress: nil, notice: { _ in }))
    #expect(try engine.work(until: StopSignal()).failed == 1)
    let used = threads.withLock { $0 }
    #expect(used.count == 1)
    #expect(used.allSatisfy { (pthread_equal($0, pthread_self()) != 0) == isOnLoop })
    let row = try #require(try ledger.read { try $0.attempts(RowFilter(), after: 0, limit: 9) }.first)
    #expect(row.outcome == "fatal" && row.httpStatus == 400)
    #expect(try ledger.read { try $0.replyExcerpt(of: row.id) }?.bytes.count == min(length, 4_096))
  }

  private static func makeFile(_ path: NameBytes) -> SourceIdentity {
    var status = stat()
    let made = path.withCString { name in
      guard let file = fopen(name, "w") else { return false }
      fputs("abc", file)
      fclose(file)
      return stat(name, &status) == 0
    }
    #expect(made)
    let nanoseconds = { (time: timespec) in Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec) }
    return SourceIdentity(
      size: 3, mtimeNs: nanoseconds(status.st_mtim), ctimeNs: nanoseconds(status.st_ctim), inode: UInt64(status.st_ino),
      device: UInt64(status.st_dev))
  }
}

/// Reports when an answer is interpreted; everything else is delegated to another protocol.
private struct Listening: TransferProtocol {
  let inner: any TransferProtocol
  let onInterpret: @Sendable () -> Void

  var name: String { inner.name }
  var abilities: ProtocolAbilities { inner.abilities }
  var sentDigest: DigestAlgorithm { inner.sentDigest }
  func layout(size: Int64) throws(TransferError) -> ChunkLayout { try inner.layout(size: size) }
  func refusal(ofKey key: NameBytes) -> Failure? { inner.refusal(ofKey: key) }
  func location(ofKey key: NameBytes) -> String { inner.location(ofKey: key) }
  func nextStep(_ facts: TransferFacts) -> TransferStep { inner.nextStep(facts) }
  func request(_ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext) throws(Failure)
    -> TransferRequest
  {
    try inner.request(step, facts, context)
  }
  func interpret(_ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext)
    -> Interpretation
  {
    onInterpret()
    return inner.interpret(reply, to: step, facts, context)
  }
}

/// Reads each body to its end and answers 400 with a body of `length` bytes.
private final class OneAnswer: DestinationResolver, Transport, CredentialSource {
  let transferProtocol: any TransferProtocol
  let length: Int
  let label = ""

  init(transferProtocol: any TransferProtocol, length: Int) {
    self.transferProtocol = transferProtocol
    self.length = length
  }

  func resolve(_ settings: BatchSettings) throws(TransferError) -> ResolvedDestination {
    ResolvedDestination(
      transferProtocol: transferProtocol, credentials: self, transport: self, host: "http://127.0.0.1:1")
  }

  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential? { nil }
  func refresh() {}

  func start(_ id: ExchangeID, _ request: TransferRequest, onReply: @escaping @Sendable (TransferReply) -> Void) {
    var reply = TransferReply()
    reply.status = 400
    reply.requestMayHaveArrived = true
    reply.body = [UInt8](repeating: 0x78, count: length)
    if case .source(let source) = request.body {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 1)
      defer { buffer.deallocate() }
      while reply.bytesSent < source.length, case .success(let count) = source.read(into: buffer, at: reply.bytesSent) {
        reply.bytesSent += Int64(count)
      }
    }
    onReply(reply)
  }

  func cancel(_ id: ExchangeID) {}
  func setRate(bytesPerSecond: Int64?, of group: RateGroup?) {}
  func bytesInFlight() -> [ExchangeID: Int64] { [:] }
  func stop() {}
}
