import TransferModel

#if canImport(Glibc)
  import Glibc
#endif

/// A server that reads each request and always gives the same answer, with one connection per request.
final class FixedAnswerServer: Sendable {
  let url: String
  private let listener: Int32
  private let thread: WorkerThread
  private let state: State

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
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        bind(listener, raw, length) == 0 && getsockname(listener, raw, &length) == 0
      }
    }
    guard isBound, listen(listener, 1_024) == 0 else { throw Scene.Broken(what: "listen: \(errno)") }
    self.listener = listener
    url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    let state = State(answer, first: first)
    self.state = state
    thread = WorkerThread { Self.serve(listener, state) }
  }

  deinit {
    shutdown(listener, CInt(SHUT_RDWR))
    thread.join()
    close(listener)
  }

  var requests: Int { state.requests.withLock { $0 } }
  var bodies: Int { state.bodies.withLock { $0 } }
  func setAnswer(_ answer: String) { state.answer.withLock { $0 = answer } }

  private static func serve(_ listener: Int32, _ state: State) {
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      if let initial = readRequest(client) {
        state.requests.withLock { $0 += 1 }
        // PUT, POST and PATCH.
        if initial == 0x50 { state.bodies.withLock { $0 += 1 } }
        let bytes = Array(state.nextAnswer().utf8)
        _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        shutdown(client, CInt(SHUT_WR))
        var rest = [UInt8](repeating: 0, count: 4_096)
        while recv(client, &rest, rest.count, 0) > 0 {}
      }
      close(client)
    }
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
