import TransferModel

#if canImport(Glibc)
  import Glibc
#endif

/// A server whose answers a test decides, with one connection per request. It reads a body only if the test wants it.
final class AnsweringServer: Sendable {
  struct Request: Sendable {
    let method: String
    let target: String
    /// By lower-case names.
    let fields: [String: String]
  }

  enum Reaction: Sendable {
    /// Reads the body and answers.
    case answer(String)
    /// Closes the connection without reading more of the body.
    case hangUp
  }

  let url: String
  private let listener: Int32
  private let thread: WorkerThread
  private let seen: Lock<[Request]>

  init(_ react: @escaping @Sendable (Request) -> Reaction) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    // A short buffer, so that little of a body is sent that nobody reads.
    var room: Int32 = 65_536
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
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
    let seen = Lock<[Request]>([])
    self.seen = seen
    thread = WorkerThread { Self.serve(listener, seen, react) }
  }

  deinit {
    shutdown(listener, CInt(SHUT_RDWR))
    thread.join()
    close(listener)
  }

  func count(_ method: String) -> Int { requests(method).count }

  func requests(_ method: String) -> [Request] { seen.withLock { $0.filter { $0.method == method } } }

  private static func serve(_ listener: Int32, _ seen: Lock<[Request]>, _ react: (Request) -> Reaction) {
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      if let (request, received) = readHead(client) {
        seen.withLock { $0.append(request) }
        if case .answer(let text) = react(request) { finish(client, request, received, text) }
      }
      close(client)
    }
  }

  private static func finish(_ client: Int32, _ request: Request, _ received: Int, _ text: String) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var left = (request.fields["content-length"].flatMap { Int($0) } ?? 0) - received
    while left > 0 {
      let count = recv(client, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      left -= count
    }
    let bytes = Array(text.utf8)
    _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    shutdown(client, CInt(SHUT_WR))
    while recv(client, &buffer, buffer.count, 0) > 0 {}
  }

  /// The head, and the number of bytes of the body that came with it; nil if the client is gone.
  private static func readHead(_ client: Int32) -> (Request, Int)? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = recv(client, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      bytes += buffer[0..<count]
      guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
      return (parse(String(decoding: bytes[..<end.lowerBound], as: UTF8.self)), bytes.count - end.upperBound)
    }
  }

  private static func parse(_ head: String) -> Request {
    let lines = head.split(separator: "\r\n")
    let words = (lines.first ?? "").split(separator: " ").map(String.init) + ["", ""]
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
    }
    return Request(method: words[0], target: words[1], fields: fields)
  }
}
