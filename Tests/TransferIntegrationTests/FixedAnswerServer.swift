import TransferModel

#if canImport(Glibc)
  import Glibc
#endif

/// A server that reads each request and always gives the same answer, with one connection per request.
final class FixedAnswerServer: Sendable {
  private let listener: LoopbackListener
  private let state: State

  var url: String { listener.url }

  final class State: Sendable {
    let answer: Lock<String>
    let requests = Lock(0)
    /// Of the requests, those that may have a body.
    let bodies = Lock(0)
    /// The answer to the first request, if it is another one.
    let first: Lock<String?>
    init(_ answer: String, first: String?) { (self.answer, self.first) = (Lock(answer), Lock(first)) }

    func nextAnswer() -> String {
      let once = first.withLock { first -> String? in
        defer { first = nil }
        return first
      }
      return once ?? answer.withLock { $0 }
    }
  }

  /// Each of the `fields` ends with CRLF.
  static func answer(_ status: String, _ fields: String = "", body: String = "") -> String {
    "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
  }

  init(_ answer: String, first: String? = nil) throws {
    let state = State(answer, first: first)
    self.state = state
    listener = try LoopbackListener { Self.serve($0, state) }
  }

  var requests: Int { state.requests.withLock { $0 } }
  var bodies: Int { state.bodies.withLock { $0 } }
  func setAnswer(_ answer: String) { state.answer.withLock { $0 = answer } }

  private static func serve(_ client: Int32, _ state: State) {
    guard let initial = readRequest(client) else { return }
    state.requests.withLock { $0 += 1 }
    // PUT, POST and PATCH.
    if initial == 0x50 { state.bodies.withLock { $0 += 1 } }
    LoopbackListener.send(state.nextAnswer(), to: client)
  }

  /// Reads head and body; only small ones. Returns the first letter of the method; nil if the client is gone.
  private static func readRequest(_ client: Int32) -> UInt8? {
    var seen: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(client, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      seen += buffer[0..<count]
      guard let end = seen.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
      let lines = seen[..<end.lowerBound].split(separator: 0x0A).map {
        String(decoding: $0, as: UTF8.self).lowercased()
      }
      let length = lines.first { $0.hasPrefix("content-length:") }.flatMap { Int($0.filter(\.isNumber)) } ?? 0
      if seen.count - end.upperBound >= length { return seen.first }
    }
  }
}
