import TransferModel

#if canImport(Glibc)
  import Glibc
#endif

/// A listening socket on the loopback interface, and the thread that serves its connections, one after the other. It
/// ends with this value.
final class LoopbackListener: Sendable {
  let url: String
  private let socket: Int32
  private let thread: WorkerThread

  /// - Parameter receiveBuffer: the room for what a connection has received and nobody has read, in bytes; nil for the
  ///   system's default.
  /// - Parameter serve: reads from and writes to a connection, which is closed afterwards.
  init(receiveBuffer: Int32? = nil, _ serve: @escaping @Sendable (_ client: Int32) -> Void) throws {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if var room = receiveBuffer {
      setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        bind(socket, raw, length) == 0 && getsockname(socket, raw, &length) == 0
      }
    }
    guard isBound, listen(socket, 1_024) == 0 else { throw Scene.Broken(what: "listen: \(errno)") }
    self.socket = socket
    url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    thread = WorkerThread {
      while true {
        let client = accept(socket, nil, nil)
        guard client >= 0 else { return }
        serve(client)
        close(client)
      }
    }
  }

  deinit {
    shutdown(socket, CInt(SHUT_RDWR))
    thread.join()
    close(socket)
  }

  /// Sends an answer, says that nothing follows, and waits until the client has closed the connection, so that it gets
  /// all of it.
  static func send(_ text: String, to client: Int32) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    shutdown(client, CInt(SHUT_WR))
    var rest = [UInt8](repeating: 0, count: 4_096)
    while recv(client, &rest, rest.count, 0) > 0 {}
  }
}
