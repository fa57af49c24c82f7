import FoundationEssentials
import Glibc
import HTTPTypes
import TransferModel

/// The simulated network, with a server that accepts PUT and the receivers of callbacks: the requests that it got are
/// the record against which a year is checked. Requests are answered one after the other, on a separate thread.
final class YearServer: Transport {
  enum Weather: Sendable, Hashable { case fine, unavailable, unreachable }

  /// A body that arrived completely.
  struct Delivery: Sendable {
    let key: String
    /// nil for bytes that are no content.
    let content: Content?
    let bootMs: Int64
    /// A success was answered.
    var isAnswered: Bool
  }

  /// Accepted callbacks, by receiver and subject; their ids.
  struct Told: Sendable {
    var ids: [String: Set<String>] = [:]
    var count = 0
    /// Calls that failed at the receiver.
    var refusals: [String: Int] = [:]
  }

  private struct State {
    var weather = Weather.fine
    var hooksAreDown = false
    /// The probability of each fault of a single request, in thousandths.
    var mishaps = 0
    var token = "t0"
    var chance: Chance
    var objects: [String: Content] = [:]
    var arrived: [Delivery] = []
    var told = Told()
  }

  private struct Work: Sendable {
    let request: TransferRequest
    let reply: @Sendable (TransferReply) -> Void
  }

  private let state: Lock<State>
  private let work = Mailbox<Work>()
  private let clock: YearClock
  private let thread = Lock<WorkerThread?>(nil)
  /// Called before a body is read, so that a writer can interfere at this moment.
  private let before = Lock<(@Sendable (String) -> Void)?>(nil)

  init(seed: UInt64, clock: YearClock) {
    state = Lock(State(chance: Chance(seed: seed &+ 99)))
    self.clock = clock
    thread.withLock { held in
      held = WorkerThread { [self] in
        while let some = work.take() {
          for each in some { each.reply(answer(each.request)) }
        }
      }
    }
  }

  func start(_ id: ExchangeID, _ request: TransferRequest, onReply: @escaping @Sendable (TransferReply) -> Void) {
    if !work.put(Work(request: request, reply: onReply)) { onReply(Self.failed(7, "the year is over")) }
  }
  func cancel(_ id: ExchangeID) {}
  func setRate(bytesPerSecond: Int64?, of group: RateGroup?) {}
  func bytesInFlight() -> [ExchangeID: Int64] { [:] }
  func stop() {
    work.close()
    let thread = thread.withLock { held in
      defer { held = nil }
      return held
    }
    thread?.join()
  }

  // MARK: - Settings and queries of a test

  func set(_ weather: Weather, hooksAreDown: Bool, mishaps: Int) {
    state.withLock { ($0.weather, $0.hooksAreDown, $0.mishaps) = (weather, hooksAreDown, mishaps) }
  }
  func accept(token: String) { state.withLock { $0.token = token } }
  func onBody(_ body: (@Sendable (String) -> Void)?) { before.withLock { $0 = body } }

  /// The deliveries since the last call.
  func takeArrived() -> [Delivery] {
    state.withLock { state in
      defer { state.arrived = [] }
      return state.arrived
    }
  }
  func object(_ key: String) -> Content? { state.withLock { $0.objects[key] } }
  /// Whether any object of this folder has the content.
  func holds(_ content: Content, in folder: String) -> Bool {
    state.withLock { $0.objects.contains { $0.value == content && $0.key.hasPrefix(folder + "/") } }
  }
  func told(_ subject: String) -> Int { state.withLock { $0.told.ids[subject]?.count ?? 0 } }
  func refusals(by receiver: String) -> Int { state.withLock { $0.told.refusals[receiver] ?? 0 } }

  // MARK: - Answers

  private func answer(_ request: TransferRequest) -> TransferReply {
    guard let path = Self.path(of: request.url) else { return Self.failed(6, "no such host") }
    if path.hasPrefix("hooks/") { return hook(String(path.dropFirst(6)), request) }
    if state.withLock({ $0.weather == .unreachable }) { return Self.failed(7, "connection refused") }
    let key = String(path.dropFirst("files/in/".count))
    before.withLock { $0 }?(key)
    var body: [UInt8] = []
    switch Self.read(request.body) {
    case .success(let bytes): body = bytes
    case .failure(let failure):
      var reply = Self.failed(42, "the body ended")
      (reply.bodyFailure, reply.requestMayHaveArrived) = (failure, true)
      return reply
    }
    return state.withLock { state in take(body, key, request, &state) }
  }

  private func take(_ body: [UInt8], _ key: String, _ request: TransferRequest, _ state: inout State) -> TransferReply {
    guard request.fields[.authorization] == "Bearer \(state.token)" else { return Self.answered(401) }
    if state.weather == .unavailable { return Self.answered(503) }
    if state.chance.happens(state.mishaps) {
      switch Int.random(in: 0..<10, using: &state.chance) {
      case 0: return Self.answered(400)
      case 1: return Self.answered(429, retryAfter: "20")
      case 2...4: return Self.answered(500)
      case 5: return Self.failed(7, "connection refused")
      default:
        store(body, key, isAnswered: false, &state)
        return Self.failed(52, "the server went away", mayHaveArrived: true)
      }
    }
    store(body, key, isAnswered: true, &state)
    var reply = Self.answered(201)
    reply.fields[.reprDigest] = ServerDigest.field(body)
    reply.bytesSent = Int64(body.count)
    return reply
  }

  private func store(_ body: [UInt8], _ key: String, isAnswered: Bool, _ state: inout State) {
    let content = Content(body)
    state.objects[key] = content
    state.arrived.append(Delivery(key: key, content: content, bootMs: clock.bootMs, isAnswered: isAnswered))
  }

  private struct Document: Decodable {
    struct File: Decodable { var key: String? }
    struct Content: Decodable {
      var event: String
      var file: File?
    }
    var data: Content
  }

  /// `who` is the path at the receiver.
  private func hook(_ who: String, _ request: TransferRequest) -> TransferReply {
    state.withLock { state in
      if state.hooksAreDown || state.chance.happens(state.mishaps) {
        state.told.refusals[who, default: 0] += 1
        return state.hooksAreDown ? Self.failed(7, "connection refused") : Self.answered(500)
      }
      state.told.count += 1
      // A dead man's switch is called without one.
      let id = request.fields[.webhookID] ?? "\(state.told.count)"
      var subject = who
      if case .bytes(let bytes) = request.body,
        let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)),
        let key = document.data.file?.key
      {
        subject += " \(document.data.event) \(key)"
      }
      state.told.ids[subject, default: []].insert(id)
      // It was accepted, and its sender gets no answer.
      if state.chance.happens(state.mishaps) {
        state.told.refusals[who, default: 0] += 1
        return Self.failed(52, "the receiver went away", mayHaveArrived: true)
      }
      return Self.answered(204)
    }
  }

  // MARK: - Replies

  private static func path(of url: String) -> String? {
    for (host, folder) in [("http://files.test/", "files/"), ("http://hooks.test/", "hooks/")] where url.hasPrefix(host)
    {
      return folder + url.dropFirst(host.count)
    }
    return nil
  }

  private static func read(_ body: RequestBody) -> Result<[UInt8], Failure> {
    let source: any BodySource
    switch body {
    case .none: return .success([])
    case .bytes(let bytes): return .success(bytes)
    case .source(let given): source = given
    }
    var bytes = [UInt8](repeating: 0, count: Int(source.length))
    var offset = 0
    while offset < bytes.count {
      let result = bytes.withUnsafeMutableBytes { buffer in
        source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]), at: Int64(offset))
      }
      switch result {
      case .success(let count): offset += count
      case .failure(let failure): return .failure(failure)
      }
    }
    return .success(bytes)
  }

  private static func answered(_ status: Int, retryAfter: String? = nil) -> TransferReply {
    var reply = TransferReply()
    (reply.status, reply.httpVersion, reply.requestMayHaveArrived) = (status, "1.1", true)
    if let retryAfter { reply.fields[.retryAfter] = retryAfter }
    return reply
  }

  private static func failed(_ code: Int32, _ text: String, mayHaveArrived: Bool = false) -> TransferReply {
    var reply = TransferReply()
    (reply.curlCode, reply.curlMessage, reply.requestMayHaveArrived) = (code, text, mayHaveArrived)
    return reply
  }
}

extension HTTPField.Name {
  fileprivate static let reprDigest = HTTPField.Name("Repr-Digest")!
  fileprivate static let webhookID = HTTPField.Name("webhook-id")!
}
