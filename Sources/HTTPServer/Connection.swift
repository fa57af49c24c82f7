#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Limits for what a client may send, and how long it may take.
public struct HTTPLimits: Sendable, Hashable {
  public var headBytes = 16 << 10
  public var bodyBytes = 64 << 10
  public var connections = 64
  /// The time from the first byte of a request until it is complete, however slowly its bytes arrive.
  public var requestMs: Int64 = 10_000
  /// The time until the first byte of the first request: silent clients do not occupy a connection for long.
  public var firstMs: Int64 = 5_000
  /// The time without a further request.
  public var idleMs: Int64 = 60_000
  /// The time for sending an answer that the client does not read.
  public var sendMs: Int64 = 30_000

  public init() {}
}

/// Serves one connection: one request after the other, on its own thread.
struct Connection {
  private let socket: Int32
  private let limits: HTTPLimits
  private let handler: @Sendable (HTTPRequest) -> HTTPResponse
  private let onTrust: () -> Void
  private var buffer: [UInt8] = []
  private var served = false

  /// `onTrust` is called when an answer trusts the client.
  init(
    _ socket: Int32, _ limits: HTTPLimits, _ handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse,
    onTrust: @escaping () -> Void
  ) {
    (self.socket, self.limits, self.handler, self.onTrust) = (socket, limits, handler, onTrust)
    #if canImport(Glibc)
      var on: Int32 = 1
      setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
    var limit = timeval(tv_sec: Int(limits.sendMs / 1000), tv_usec: .init(limits.sendMs % 1000 * 1000))
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  mutating func serve() {
    while true {
      do throws(HTTPRefusal) {
        guard let head = try nextHead() else { return }
        var request = head.request
        request.body = try body(head)
        let response = handler(request)
        if response.trusts { onTrust() }
        let closes = head.wantsClose || response.closes
        guard send(response, withBody: request.method != "HEAD", closing: closes), !closes else { return linger() }
      } catch {
        _ = send(error.response, withBody: true, closing: true)
        return linger()
      }
    }
  }

  /// nil when the client closed the connection, or was silent for too long.
  private mutating func nextHead() throws(HTTPRefusal) -> RequestHead? {
    if buffer.isEmpty, !fill(untilMs: Self.nowMs + (served ? limits.idleMs : limits.firstMs)) { return nil }
    served = true
    let deadline = Self.nowMs + limits.requestMs
    while true {
      if let end = headEnd {
        let head = try RequestHead(buffer[..<end], limits: limits)
        buffer.removeFirst(end)
        return head
      }
      guard buffer.count < limits.headBytes else {
        throw HTTPRefusal(431, "the request head is longer than \(limits.headBytes) bytes")
      }
      guard fill(untilMs: deadline) else {
        if Self.nowMs < deadline { return nil }
        throw HTTPRefusal(408, "the request was not received within \(limits.requestMs) ms")
      }
    }
  }

  private var headEnd: Int? {
    guard let found = buffer.prefix(limits.headBytes).firstRange(of: [0x0D, 0x0A, 0x0D, 0x0A]) else { return nil }
    return found.upperBound
  }

  private mutating func body(_ head: RequestHead) throws(HTTPRefusal) -> [UInt8] {
    guard head.length > 0 else { return [] }
    if head.expectsContinue, !push(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) { return [] }
    let deadline = Self.nowMs + limits.requestMs
    while buffer.count < head.length {
      guard fill(untilMs: deadline) else { throw HTTPRefusal(408, "the body was not received completely in time") }
    }
    defer { buffer.removeFirst(head.length) }
    return Array(buffer.prefix(head.length))
  }

  /// Waits for the next bytes; false when the connection has ended or the time has expired.
  private mutating func fill(untilMs deadline: Int64) -> Bool {
    while true {
      let restMs = deadline - Self.nowMs
      guard restMs > 0 else { return false }
      var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      let ready = poll(&entry, 1, Int32(clamping: restMs))
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { return false }
      var bytes = [UInt8](repeating: 0, count: 16 << 10)
      let count = recv(socket, &bytes, bytes.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      buffer += bytes[..<count]
      return true
    }
  }

  private func send(_ response: HTTPResponse, withBody: Bool, closing: Bool) -> Bool {
    let head = response.head(nowSeconds: Int(time(nil)), closing: closing)
    let hasBody = withBody && response.status != 304 && response.status != 204
    return push(hasBody ? head + response.body : head)
  }

  private func push(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = UnsafeRawBufferPointer(rebasing: rest)
        #if canImport(Glibc)
          let count = Glibc.send(socket, piece.baseAddress!, piece.count, Int32(MSG_NOSIGNAL))
        #else
          let count = Darwin.send(socket, piece.baseAddress!, piece.count, 0)
        #endif
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }

  /// Reads what still arrives for a moment: closing with unread bytes would cause a reset, which could destroy the
  /// answer on its way.
  private mutating func linger() {
    shutdown(socket, Int32(SHUT_WR))
    let deadline = Self.nowMs + 500
    var rest = 1 << 20
    while rest > 0, fill(untilMs: deadline) {
      rest -= buffer.count
      buffer = []
    }
  }

  static var nowMs: Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
  }
}
