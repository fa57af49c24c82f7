import CurlTransport
import HTTPTypes
import Synchronization
import TransferModel

let agent = "transfers-test/1"

/// Runs a test with a server and a transport, and stops both.
func withServer(
  _ script: @escaping @Sendable (ServerConnection) -> Void,
  configure: (inout CurlConfiguration) -> Void = { _ in },
  _ body: (ScriptedServer, CurlTransport) async throws -> Void
) async rethrows {
  let server = ScriptedServer(script)
  defer { server.stop() }
  var configuration = CurlConfiguration(userAgent: agent)
  // A loaded machine may need some time between two requests.
  (configuration.maxIdleSeconds, configuration.idlePoolMs) = (60, 60_000)
  configure(&configuration)
  let transport = loadedTransport(configuration)
  defer { transport.stop() }
  try await body(server, transport)
}

/// Without libcurl nothing can be tested.
func loadedTransport(_ configuration: CurlConfiguration) -> CurlTransport {
  do {
    return try CurlTransport(configuration)
  } catch {
    preconditionFailure("\(error)")
  }
}

private let lastID = Atomic<UInt64>(0)

func newID() -> ExchangeID { ExchangeID(rawValue: lastID.add(1, ordering: .relaxed).newValue) }

extension CurlTransport {
  func perform(_ request: TransferRequest, id: ExchangeID = newID()) async -> TransferReply {
    await withCheckedContinuation { continuation in
      start(id, request) { continuation.resume(returning: $0) }
    }
  }

  /// Starts the request and puts its replies in a mailbox, so that a test sees each of them.
  func begin(_ request: TransferRequest, id: ExchangeID = newID()) -> Mailbox<TransferReply> {
    let replies = Mailbox<TransferReply>()
    start(id, request) { replies.put($0) }
    return replies
  }
}

/// A body of any length whose bytes are a function of their offset, so that a misplaced byte is noticed.
final class PatternBody: BodySource {
  let length: Int64
  private let failsAt: Int64?
  private let mostAtOnce: Int
  let offsets = Lock<[Int64]>([])

  init(_ length: Int, failsAt: Int64? = nil, mostAtOnce: Int = .max) {
    self.length = Int64(length)
    self.failsAt = failsAt
    self.mostAtOnce = mostAtOnce
  }

  static func byte(at offset: Int64) -> UInt8 {
    UInt8(truncatingIfNeeded: (offset &* 31) ^ (offset >> 8) &+ offset >> 16)
  }

  /// A loop that is quick without optimisation, too: tests send megabytes.
  static func bytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        buffer[filled] = byte(at: Int64(filled))
        filled &+= 1
      }
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Result<Int, Failure> {
    offsets.withLock { $0.append(offset) }
    if let failsAt, offset >= failsAt { return .failure(Failure(.sourceIO, "disk on fire", systemError: 5)) }
    let room = min(buffer.count, mostAtOnce, Int(length - offset))
    let count = failsAt.map { min(room, Int($0 - offset)) } ?? room
    for index in 0..<count { buffer[index] = Self.byte(at: offset + Int64(index)) }
    return .success(count)
  }
}

func answer(_ status: String, _ fields: String = "", body: String = "") -> String {
  "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
}

/// Answers every request of every connection, after reading all of it.
func answeringAll(_ text: String) -> @Sendable (ServerConnection) -> Void {
  { connection in
    while connection.readRequest() != nil, connection.send(text) {}
  }
}
