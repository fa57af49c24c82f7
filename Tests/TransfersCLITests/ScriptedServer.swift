import Glibc
import TransferModel

/// A server whose answers a test writes: each request is passed to a closure, on the thread of its connection.
final class ScriptedServer: Sendable {
  struct Request: Sendable {
    var method: String
    /// Path and query.
    var target: String
    var headers: [String: String]
    var body: [UInt8]
  }
  struct Reply: Sendable {
    var status = 200
    var headers: [(String, String)] = []
    var body = ""
  }

  let url: String
  private let port: UInt16
  private let listener: Int32
  private let acceptor: WorkerThread
  private let clients: Clients

  private final class Clients: Sendable {
    let answer: @Sendable (Request) -> Reply?
    let open = Lock<Set<Int32>>([])
    let threads = Lock<[WorkerThread]>([])
    /// The port of each client, in the order of acceptance.
    let accepted = Mailbox<UInt16>()
    init(_ answer: @escaping @Sendable (Request) -> Reply?) { self.answer = answer }
  }

  /// - Parameter answer: returns nil for no answer; the connection then stays open until the client closes it.
  init(answer: @escaping @Sendable (Request) -> Reply?) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.address(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        bind(listener, raw, length) == 0 && getsockname(listener, raw, &length) == 0
      }
    }
    guard isBound, listen(listener, 64) == 0 else { throw SystemFailure("listen") }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    url = "http://127.0.0.1:\(port)"
    let clients = Clients(answer)
    self.clients = clients
    acceptor = WorkerThread {
      while case let client = accept(listener, nil, nil), client >= 0 {
        clients.open.withLock { _ = $0.insert(client) }
        let thread = WorkerThread { Self.serve(client, clients) }
        clients.threads.withLock { $0.append(thread) }
        clients.accepted.put(Self.port(client, getpeername))
      }
    }
  }

  deinit {
    shutdown(listener, CInt(SHUT_RDWR))
    acceptor.join()
    close(listener)
    clients.open.withLock { for client in $0 { shutdown(client, CInt(SHUT_RDWR)) } }
    for thread in clients.threads.withLock({ $0 }) { thread.join() }
  }

  /// Returns when everything that ended clients sent has been read: a request of a killed program may still be unread.
  func hearTheDead() throws {
    let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(probe) }
    var address = Self.address(port)
    let isConnected = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else { throw SystemFailure("connect") }
    let own = Self.port(probe, getsockname)
    // Earlier clients are accepted earlier.
    while let ports = clients.accepted.take(), !ports.contains(own) {}
    clients.open.withLock { for client in $0 { shutdown(client, CInt(SHUT_RDWR)) } }
    let threads = clients.threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    for thread in threads { thread.join() }
  }

  private static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    return address
  }

  private static func port(
    _ socket: Int32, _ name: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
  ) -> UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(socket, $0, &length) }
    }
    return code == 0 ? UInt16(bigEndian: address.sin_port) : 0
  }

  private static func serve(_ client: Int32, _ clients: Clients) {
    var seen: [UInt8] = []
    while let request = read(client, &seen) {
      guard let reply = clients.answer(request) else { continue }
      var head = "HTTP/1.1 \(reply.status) Scripted\r\nContent-Length: \(reply.body.utf8.count)\r\n"
      for (name, value) in reply.headers { head += "\(name): \(value)\r\n" }
      let bytes = Array((head + "\r\n" + (request.method == "HEAD" ? "" : reply.body)).utf8)
      guard send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { break }
    }
    clients.open.withLock { _ = $0.remove(client) }
    close(client)
  }

  /// The next request of the connection; nil at the end of the connection.
  private static func read(_ client: Int32, _ seen: inout [UInt8]) -> Request? {
    let mark = Array("\r\n\r\n".utf8)
    var end = seen.firstRange(of: mark)
    while end == nil {
      guard receive(client, &seen) else { return nil }
      end = seen.firstRange(of: mark)
    }
    guard let end else { return nil }
    let lines = String(decoding: seen[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n").map(String.init)
    let words = lines[0].split(separator: " ").map(String.init)
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
    }
    seen.removeFirst(end.upperBound)
    let length = headers["content-length"].flatMap { Int($0) } ?? 0
    if headers["expect"] != nil, seen.count < length {
      let go = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
      _ = send(client, go, go.count, Int32(MSG_NOSIGNAL))
    }
    while seen.count < length { guard receive(client, &seen) else { return nil } }
    defer { seen.removeFirst(length) }
    return Request(
      method: words[0], target: words.count > 1 ? words[1] : "", headers: headers, body: Array(seen[..<length]))
  }

  private static func receive(_ client: Int32, _ seen: inout [UInt8]) -> Bool {
    let count = withUnsafeTemporaryAllocation(byteCount: 256 << 10, alignment: 16) { buffer in
      let count = recv(client, buffer.baseAddress, buffer.count, 0)
      if count > 0 { seen.append(contentsOf: buffer[..<count]) }
      return count
    }
    return count > 0
  }
}
