import Glibc

/// A client that sends exactly the given bytes and shows exactly what comes back.
final class RawClient {
  struct Reply: Equatable {
    var status: Int
    /// The names are in lower case.
    var fields: [String: String]
    var body: [UInt8]
    /// The connection ended before the promised length.
    var isTruncated = false
  }

  enum Ending: Equatable { case closed, reset, silent }

  private let number: Int32
  private var buffer: [UInt8] = []
  private(set) var ending: Ending?

  init(port: UInt16, receiveTimeoutMs: Int = 20_000) {
    number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: receiveTimeoutMs / 1000, tv_usec: receiveTimeoutMs % 1000 * 1000)
    setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    let connected = withUnsafeBytes(of: &address) {
      connect(number, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
    }
    precondition(connected == 0, "connect: \(errno)")
  }

  deinit { close(number) }

  /// Sends what it can; that a server closed early is not an error here.
  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(number, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL)) }
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  func finishSending() { shutdown(number, Int32(SHUT_WR)) }

  /// The next answer; nil if the connection ended or stayed silent before a complete head.
  func reply(toHead: Bool = false) -> Reply? {
    while headEnd == nil { if !more() { return nil } }
    let end = headEnd!
    let lines = String(decoding: buffer[..<(end - 4)], as: UTF8.self).split(separator: "\r\n")
    buffer.removeFirst(end)
    var reply = Reply(status: Int(lines[0].split(separator: " ")[1]) ?? 0, fields: [:], body: [])
    for line in lines.dropFirst() {
      let colon = line.firstIndex(of: ":")!
      reply.fields[line[..<colon].lowercased()] = String(line[line.index(colon, offsetBy: 2)...])
    }
    let length = toHead || reply.status == 304 ? 0 : Int(reply.fields["content-length"] ?? "0")!
    while buffer.count < length { if !more() { break } }
    reply.body = Array(buffer.prefix(length))
    reply.isTruncated = reply.body.count < length
    buffer.removeFirst(reply.body.count)
    return reply
  }

  /// Everything until the connection ends.
  func rest() -> [UInt8] {
    while more() {}
    return buffer
  }

  private var headEnd: Int? {
    guard buffer.count >= 4 else { return nil }
    return (4...buffer.count).first { buffer[($0 - 4)..<$0].elementsEqual([13, 10, 13, 10]) }
  }

  private func more() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    let count = chunk.withUnsafeMutableBytes { recv(number, $0.baseAddress!, $0.count, 0) }
    if count > 0 {
      buffer += chunk[..<count]
      return true
    }
    ending = count == 0 ? .closed : errno == ECONNRESET ? .reset : .silent
    return false
  }
}
