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
    struct Place {
      let socket: Int32
      var isTrusted = false
      /// Its connection was closed for another one; its thread is about to end.
      var isEvicted = false
    }

    /// By the order in which they were accepted.
    var places: [Int64: Place] = [:]
    var accepted: Int64 = 0
    var isStopping = false

    enum Taken {
      case place(Int64)
      /// All connections are trusted.
      case full
      /// As many as the limit were closed for others, and their threads have not ended.
      case ending
    }

    /// If all places are taken, the oldest connection that is not trusted is closed for this one: clients that never
    /// prove who they are cannot keep out one that can.
    mutating func take(_ socket: Int32, limit: Int) -> Taken {
      let evicted = places.values.count(where: \.isEvicted)
      if places.count - evicted >= limit {
        let others = places.filter { !$0.value.isTrusted && !$0.value.isEvicted }
        guard let oldest = others.min(by: { $0.key < $1.key }) else { return .full }
        guard evicted < limit else { return .ending }
        shutdown(oldest.value.socket, Int32(SHUT_RDWR))
        places[oldest.key]?.isEvicted = true
      }
      accepted += 1
      places[accepted] = Place(socket: socket)
      return .place(accepted)
    }
  }

  private let socket: ServerSocket
  private let limits: HTTPLimits
  private let handler: @Sendable (HTTPRequest) -> HTTPResponse
  private let live = Lock(Live())
  private let ended = Mailbox<Void>()
  private let acceptor = Lock<WorkerThread?>(nil)
  /// How long a new connection waits for those that were closed for others, whose threads end at once unless they are
  /// making an answer.
  private static let evictionMs: Int64 = 1_000

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
      for place in live.places.values { shutdown(place.socket, Int32(SHUT_RDWR)) }
    }
    while live.withLock({ !$0.places.isEmpty }) { _ = ended.take() }
  }

  private func acceptAll() {
    while let accepted = socket.nextConnection() {
      guard let number = place(accepted) else {
        turnAway(accepted)
        continue
      }
      if let thread = try? WorkerThread(to: "serve a connection", { [self] in serve(accepted, number) }) {
        thread.detach()
      } else {
        live.withLock { $0.places[number] = nil }
        turnAway(accepted)
      }
    }
  }

  /// The number of the connection; nil if it is to be turned away.
  private func place(_ accepted: Int32) -> Int64? {
    let deadline = Connection.nowMs + Self.evictionMs
    while true {
      switch live.withLock({ $0.take(accepted, limit: limits.connections) }) {
      case .place(let number): return number
      case .full: return nil
      case .ending:
        let restMs = deadline - Connection.nowMs
        guard restMs > 0 else { return nil }
        _ = ended.take(timeoutMs: restMs)
      }
    }
  }

  private func serve(_ accepted: Int32, _ number: Int64) {
    var connection = Connection(accepted, limits, handler) { [live] in
      live.withLock { $0.places[number]?.isTrusted = true }
    }
    connection.serve()
    live.withLock { live in
      live.places[number] = nil
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
