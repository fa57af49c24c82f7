import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A server on the loopback interface that handles each connection as the test says, in a thread of its own.
final class ScriptedServer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let state = Lock(State())
  private let acceptor: Lock<WorkerThread?>

  private struct State {
    var accepted = 0
    var open: [Int: ServerConnection] = [:]
    var threads: [WorkerThread] = []
  }

  /// - Parameter everywhere: listens at each address of this machine, for ``url(_:)``.
  init(everywhere: Bool = false, _ script: @escaping @Sendable (ServerConnection) -> Void) {
    signal(SIGPIPE, SIG_IGN)
    setenv("no_proxy", "127.0.0.1", 1)
    (listener, port) = listenOnLoopback(backlog: 256, everywhere: everywhere)
    acceptor = Lock(nil)
    let worker = WorkerThread { [self] in acceptAll(script) }
    acceptor.withLock { $0 = worker }
  }

  var url: String { "http://127.0.0.1:\(port)" }
  /// One of 254 origins that lead here, if it listens everywhere.
  func url(_ number: Int) -> String { "http://127.0.0.\(number):\(port)" }
  var accepted: Int { state.withLock { $0.accepted } }

  private func acceptAll(_ script: @escaping @Sendable (ServerConnection) -> Void) {
    while true {
      // A program that another test starts must not inherit the connection and keep it open.
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { return }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      state.withLock { state in
        let connection = ServerConnection(number: state.accepted, descriptor: descriptor)
        state.open[state.accepted] = connection
        state.accepted += 1
        state.threads.append(
          WorkerThread { [self] in
            script(connection)
            self.state.withLock { $0.open[connection.number] = nil }
            connection.close()
          })
      }
    }
  }

  /// Ends all connections and threads.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    acceptor.withLock { $0.take() }?.join()
    close(listener)
    let threads = state.withLock { state in
      for connection in state.open.values { connection.interrupt() }
      defer { state.threads = [] }
      return state.threads
    }
    for thread in threads { thread.join() }
  }
}

/// The server's end of one connection; used by its script's thread.
final class ServerConnection: @unchecked Sendable {
  /// Counts from 0 in the order of acceptance.
  let number: Int
  private let descriptor: Int32
  private var ahead: [UInt8] = []

  init(number: Int, descriptor: Int32) {
    self.number = number
    self.descriptor = descriptor
  }

  /// The head of a request as it was received, including the empty line; nil if the peer closed.
  func readHead() -> String? {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let at = ahead.firstRange(of: end) {
        defer { ahead.removeFirst(at.upperBound) }
        return String(decoding: ahead[..<at.upperBound], as: UTF8.self)
      }
      guard readMore() else { return nil }
    }
  }

  /// nil if the peer closed before `count` bytes arrived.
  func readBody(_ count: Int) -> [UInt8]? {
    while ahead.count < count {
      guard readMore() else { return nil }
    }
    defer { ahead.removeFirst(count) }
    return Array(ahead[..<count])
  }

  /// Reads head and body, the latter according to its `Content-Length`.
  func readRequest() -> (head: String, body: [UInt8])? {
    guard let head = readHead() else { return nil }
    let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
    guard let length, let count = Int(length.drop { $0 != " " }.dropFirst()) else { return (head, []) }
    return readBody(count).map { (head, $0) }
  }

  private func readMore() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    ahead.append(contentsOf: buffer[..<count])
    return true
  }

  /// Returns false if the peer is gone.
  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Waits until the peer closes.
  func waitForClose() {
    while readMore() { ahead.removeAll() }
  }

  /// The next ``close()`` sends RST instead of FIN.
  func resetOnClose() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
  }

  func close() { Glibc.close(descriptor) }
  func interrupt() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

/// A port that accepts no further connection: a client hangs while it connects.
final class DeafPort: Sendable {
  let port: UInt16
  private let listener: Int32
  private let fillers: [Int32]

  init() {
    let (listener, port) = listenOnLoopback(backlog: 0)
    self.listener = listener
    self.port = port
    fillers = (0..<4).map { _ in
      let filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
      withLoopback(port: port) { _ = connect(filler, $0, $1) }
      return filler
    }
  }

  deinit {
    for descriptor in fillers + [listener] { close(descriptor) }
  }
}

func listenOnLoopback(backlog: Int32, everywhere: Bool = false) -> (descriptor: Int32, port: UInt16) {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  withLoopback(port: 0, everywhere: everywhere) { precondition(bind(descriptor, $0, $1) == 0, "bind") }
  precondition(listen(descriptor, backlog) == 0, "listen")
  var address = sockaddr_in()
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &length) }
  }
  return (descriptor, UInt16(bigEndian: address.sin_port))
}

private func withLoopback(
  port: UInt16, everywhere: Bool = false, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Void
) {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = in_addr_t(everywhere ? 0 : 0x7F00_0001).bigEndian
  withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
  }
}
