import HTTPTypes
import TransferModel
import TransferProtocols

@testable import TransferEngine

/// The server of all destinations: keeps requests until a test answers them. Each destination is a host of its own: to
/// `once` nothing may be sent twice, and `unusable` cannot be set up.
final class ScriptedServer: DestinationResolver, Transport, CredentialSource {
  private struct Running {
    let id: ExchangeID
    let url: String
    let onReply: @Sendable (TransferReply) -> Void
  }

  private let running = Lock<[Running]>([])
  private let paths = Lock<[String]>([])
  private let resolved = Lock(0)
  private let asked = Lock(0)
  let label = "test"

  /// Requests without an answer.
  var waiting: Int { running.withLock { $0.count } }
  /// The URLs of all requests that it received.
  var received: [String] { paths.withLock { $0 } }

  func answer(_ status: Int, from host: String? = nil) {
    var reply = TransferReply()
    (reply.status, reply.requestMayHaveArrived, reply.bytesSent) = (status, true, 10)
    end(oldest: host, reply)
  }

  func refuseConnection(of host: String? = nil) {
    var reply = TransferReply()
    (reply.curlCode, reply.curlMessage) = (7, "connection refused")
    end(oldest: host, reply)
  }

  private func end(oldest host: String?, _ reply: TransferReply) {
    let found = running.withLock { running -> Running? in
      let place = running.firstIndex { one in host.map { one.url.hasPrefix("http://\($0)/") } ?? true }
      return place.map { running.remove(at: $0) }
    }
    found?.onReply(reply)
  }

  /// How many destinations were set up, and of how many only the host was determined.
  var setUps: (whole: Int, hosts: Int) { (resolved.withLock { $0 }, asked.withLock { $0 }) }

  func host(of settings: BatchSettings) throws(TransferError) -> String {
    asked.withLock { $0 += 1 }
    guard settings.destination != "unusable" else {
      throw TransferError(.config, "set up destination", NameBytes(settings.destination), cause: "it is unusable")
    }
    return settings.destination
  }

  func resolve(_ settings: BatchSettings) throws(TransferError) -> ResolvedDestination {
    resolved.withLock { $0 += 1 }
    guard settings.destination != "unusable" else {
      throw TransferError(.config, "set up destination", NameBytes(settings.destination), cause: "it is unusable")
    }
    return ResolvedDestination(
      transferProtocol: OneBody(host: settings.destination), credentials: self, transport: self,
      host: settings.destination)
  }

  func start(_ id: ExchangeID, _ request: TransferRequest, onReply: @escaping @Sendable (TransferReply) -> Void) {
    paths.withLock { $0.append(request.url) }
    running.withLock { $0.append(Running(id: id, url: request.url, onReply: onReply)) }
  }

  func cancel(_ id: ExchangeID) {
    let ended = running.withLock { running in
      let found = running.filter { $0.id == id }
      running.removeAll { $0.id == id }
      return found
    }
    var reply = TransferReply()
    (reply.isCancelled, reply.requestMayHaveArrived, reply.curlCode) = (true, true, 42)
    for one in ended { one.onReply(reply) }
  }

  func setRate(bytesPerSecond: Int64?, of group: RateGroup?) {}
  func bytesInFlight() -> [ExchangeID: Int64] { [:] }
  func stop() {}
  var held: HeldCredential? { HeldCredential(nil) }
  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential? { nil }
  func refresh() {}
}

/// One body for a file: 2xx stores it, 500 is to be retried, 503 asks for a pause of an hour, anything else fails the
/// file.
private struct OneBody: TransferProtocol, LaterQuestions {
  let host: String
  /// The body may be sent again after a lost answer.
  private var isRepeatable: Bool { host != "once" }
  var name: String { "test" }
  var abilities: ProtocolAbilities {
    ProtocolAbilities(parallelChunks: false, resumable: false, unrepeatable: isRepeatable ? [] : [.part])
  }
  var sentDigest: DigestAlgorithm { .crc32c }

  func layout(size: Int64) throws(TransferError) -> ChunkLayout { ChunkLayout(whole: size) }
  func refusal(ofKey key: NameBytes) -> Failure? { nil }
  func location(ofKey key: NameBytes) -> String { "test://\(key)" }
  func nextStep(_ facts: TransferFacts) -> TransferStep { .chunks }

  func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    if case .abort(let id) = step { return TransferRequest(method: .delete, url: "http://\(host)/uploads/\(id)") }
    return TransferRequest(method: .put, url: "http://\(host)/\(facts.file.key)")
  }

  func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    switch reply.status {
    case 200..<300:
      guard case .chunk = step else { return .settled }
      let part = PartReceipt(seq: 0, length: facts.file.size, etag: "e", digest: nil, confirmation: .size)
      return .stored(part, proof: FileProof(confirmation: .size, etag: "e"))
    case 503:
      return .failed(
        Failure(.http503, "the server is busy", retryAfterMs: 3_600_000), .retry(isThrottled: true))
    case 500: return .failed(Failure(.http500, "the server failed"), .retry(isThrottled: false))
    case 0:
      let failure =
        reply.requestMayHaveArrived
        ? Failure(.netReset, "the answer was lost") : Failure(.netRefused, "the connection was refused")
      return .failed(failure, isRepeatable ? .retry(isThrottled: false) : .unknown)
    default: return .failed(Failure(.http403, "the server refuses it"), .permanent)
    }
  }

  func question(about object: StoredObject) -> StepRequest? { .verify }

  func request(
    _ question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    TransferRequest(method: .head, url: "http://\(host)/\(object.facts.file.key)")
  }

  /// 2xx finds the file; anything else is no answer.
  func answer(
    _ reply: TransferReply, to question: StepRequest, about object: StoredObject, _ context: RequestContext
  ) -> ObjectAnswer {
    if (200..<300).contains(reply.status) {
      return ObjectAnswer(.finding(RemoteFinding(.found, object.proof, detail: "")))
    }
    return ObjectAnswer(.failed(Failure(.netRefused, "the connection was refused"), .retry(isThrottled: false)))
  }
}
