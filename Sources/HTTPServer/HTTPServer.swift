public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A small strict HTTP/1.1 server with a thread for each connection and limits for everything that a client controls.
/// It does not know what is served.
public final class HTTPServer: Sendable {
  private struct Live {
    var sockets: [Int64: Int32] = [:]
    var accepted: Int64 = 0
    var isStopping = false
  }

  private let socket: ServerSocket
  private let limits: HTTPLimits
  private let handler: @Sendable (HTTPRequest) -> HTTPResponse
  private let live = Lock(Live())
  private let ended = Mailbox<Void>()
  private let acceptor = Lock<WorkerThread?>(nil)

  /// Binds; connections wait until ``start()``. Throws `.config` when the system refuses the address.
  public init(
    _ address: ListenAddress, limits: HTTPLimits = HTTPLimits(),
    handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) throws(TransferError) {
    socket = try ServerSocket(address)
    (self.limits, self.handler) = (limits, handler)
  }

  /// The port that was bound; 0 for a socket file.
  public var port: UInt16 { socket.port }

  /// Starts serving on its own threads. Call it only once. Throws `.config` if no thread can be started.
  public func start() throws(TransferError) {
    let started = try WorkerThread(to: "accept connections") { [self] in acceptAll() }
    acceptor.withLock { $0 = started }
  }

  /// Closes all connections and waits for the threads: no handler runs afterwards. A second call does nothing.
  public func stop() {
    let taken = acceptor.withLock { acceptor in
      defer { acceptor = nil }
      return acceptor
    }
    guard let taken else { return }
    socket.stop()
    taken.join()
    live.withLock { live in
      live.isStopping = true
      for socket in live.sockets.values { shutdown(socket, Int32(SHUT_RDWR)) }
    }
    while live.withLock({ !$0.sockets.isEmpty }) { _ = ended.take() }
  }

  private func acceptAll() {
    while let accepted = socket.nextConnection() {
      let number = live.withLock { live -> Int64? in
        guard live.sockets.count < limits.connections else { return nil }
        live.accepted += 1
        live.sockets[live.accepted] = accepted
        return live.accepted
      }
      guard let number else {
        turnAway(accepted)
        continue
      }
      if let thread = try? WorkerThread(to: "serve a connection", { [self] in serve(accepted, number) }) {
        thread.detach()
      } else {
        live.withLock { $0.sockets[number] = nil }
        turnAway(accepted)
      }
    }
  }

  private func serve(_ accepted: Int32, _ number: Int64) {
    var connection = Connection(accepted, limits, handler)
    connection.serve()
    live.withLock { live in
      live.sockets[number] = nil
      close(accepted)
    }
    ended.put(())
  }

  private func turnAway(_ accepted: Int32) {
    let response = HTTPResponse(503, text: "too many connections")
    let bytes = response.head(nowSeconds: Int(time(nil)), closing: true) + response.body
    // Fits into an empty send buffer, so that the accepting thread is never blocked.
    _ = bytes.withUnsafeBytes { send(accepted, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) }
    shutdown(accepted, Int32(SHUT_WR))
    close(accepted)
  }
}
