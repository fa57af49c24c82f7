import Glibc

/// One accepted connection with its input buffer. Used by the thread of the connection.
final class Socket {
  private static let capacity = 256 << 10
  static let headLimit = 64 << 10

  let number: Int32
  private let timeoutMs: Int64
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Socket.capacity, alignment: 64)
  private var start = 0
  private var end = 0

  /// Sets the options of the descriptor but does not own it: its owner closes it.
  init(_ number: Int32, timeoutMs: Int64) {
    self.number = number
    self.timeoutMs = timeoutMs
    var on: Int32 = 1
    setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    var limit = timeval(tv_sec: Int(timeoutMs / 1000), tv_usec: Int(timeoutMs % 1000) * 1000)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(number, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  deinit { buffer.deallocate() }

  /// The next request head up to and including its empty line; nil when the client closed the connection or sent
  /// nothing before it. The head has to be complete within the timeout, however slowly its bytes arrive.
  func nextHead() throws(ExchangeEnd) -> [UInt8]? {
    if start == end {
      do throws(ExchangeEnd) { try refill() } catch { return nil }
    }
    let deadline = monotonicNanoseconds() + timeoutMs * 1_000_000
    var searched = 0
    while true {
      if let length = headLength(from: searched) {
        defer { start += length }
        return Array(buffer[start..<(start + length)])
      }
      searched = max(0, end - start - 3)
      if end - start > Self.headLimit { throw .refuse(431, "the request head is longer than 64 KiB") }
      try refill()
      if monotonicNanoseconds() > deadline { throw .timedOut }
    }
  }

  private func headLength(from searched: Int) -> Int? {
    let bytes = UnsafeRawBufferPointer(rebasing: buffer[start..<end])
    var at = searched + 3
    while at < bytes.count, at < Self.headLimit {
      if bytes[at] == 0x0A, bytes[at - 1] == 0x0D, bytes[at - 2] == 0x0A, bytes[at - 3] == 0x0D { return at + 1 }
      at += 1
    }
    return nil
  }

  /// One line without its CRLF, for the framing of chunked bodies.
  func line(limit: Int) throws(ExchangeEnd) -> [UInt8] {
    while true {
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[start..<end])
      if let newline = bytes.firstIndex(of: 0x0A) {
        guard newline > 0, bytes[newline - 1] == 0x0D, newline < limit else {
          throw .refuse(400, "the chunked framing is broken")
        }
        defer { start += newline + 1 }
        return Array(bytes[..<(newline - 1)])
      }
      if bytes.count >= limit { throw .refuse(400, "the chunked framing is broken") }
      try refill()
    }
  }

  /// Between 1 and `limit` bytes of the body, valid until the next call.
  func bytes(atMost limit: Int) throws(ExchangeEnd) -> UnsafeRawBufferPointer {
    if start == end { try refill(atMost: limit) }
    let count = min(limit, end - start)
    defer { start += count }
    return UnsafeRawBufferPointer(rebasing: buffer[start..<(start + count)])
  }

  /// Drops between 1 and `limit` bytes, in the kernel where possible.
  func skip(atMost limit: Int) throws(ExchangeEnd) -> Int {
    if start < end { return try bytes(atMost: limit).count }
    return try received(recv(number, buffer.baseAddress!, limit, Int32(MSG_TRUNC)))
  }

  private func refill(atMost limit: Int = Socket.capacity) throws(ExchangeEnd) {
    if start == end {
      (start, end) = (0, 0)
    } else if start > 0 {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
      (start, end) = (0, end - start)
    }
    let room = min(limit, Self.capacity - end)
    end += try received(recv(number, buffer.baseAddress! + end, room, 0))
  }

  private func received(_ count: Int) throws(ExchangeEnd) -> Int {
    if count > 0 { return count }
    throw count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? .timedOut : .gone
  }

  func send(_ bytes: [UInt8]) throws(ExchangeEnd) {
    var failure: ExchangeEnd?
    bytes.withUnsafeBytes { bytes in
      do throws(ExchangeEnd) { try send(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  func send(_ bytes: UnsafeRawBufferPointer) throws(ExchangeEnd) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.send(number, rest.baseAddress!, rest.count, Int32(MSG_NOSIGNAL))
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw .gone }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  /// Ends sending, and reads for up to `milliseconds` what the client still sends: closing with unread bytes would
  /// cause a reset and could destroy the answer on its way.
  func finishSending(milliseconds: Int64) {
    shutdown(number, Int32(SHUT_WR))
    let deadline = monotonicNanoseconds() + milliseconds * 1_000_000
    var wait = timeval(tv_sec: Int(milliseconds / 1000), tv_usec: Int(milliseconds % 1000) * 1000)
    setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    while monotonicNanoseconds() < deadline {
      if recv(number, buffer.baseAddress!, Self.capacity, Int32(MSG_TRUNC)) <= 0 { return }
    }
  }

  /// Makes the following close a TCP reset.
  func resetOnClose() {
    var now = linger(l_onoff: 1, l_linger: 0)
    setsockopt(number, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
  }
}
