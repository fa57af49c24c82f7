import Glibc
import TransferModel

/// A listening TCP socket.
struct Listener {
  let descriptor: Descriptor
  /// `http://127.0.0.1:40211`
  let url: String
  let port: UInt16

  /// Binds to a numeric address and a port (0 for a free one). Throws `.config` when the system refuses.
  init(host: String, port: UInt16) throws(TransferError) {
    let isIPv6 = host.contains(":")
    let opened = socket(
      isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), Int32(IPPROTO_TCP))
    guard opened >= 0 else { throw Self.failure(host, port) }
    descriptor = Descriptor(opened)
    var on: Int32 = 1
    setsockopt(opened, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    let bound =
      isIPv6 ? try Self.bindIPv6(opened, host, port) : try Self.bindIPv4(opened, host, port)
    guard bound, listen(opened, 1024) == 0 else { throw Self.failure(host, port) }
    self.port = try Self.boundPort(opened, host, port)
    url = isIPv6 ? "http://[\(host)]:\(self.port)" : "http://\(host):\(self.port)"
  }

  private static func bindIPv4(_ socket: Int32, _ host: String, _ port: UInt16) throws(TransferError) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { throw notNumeric(host) }
    return bind(socket, &address)
  }

  private static func bindIPv6(_ socket: Int32, _ host: String, _ port: UInt16) throws(TransferError) -> Bool {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = port.bigEndian
    guard inet_pton(AF_INET6, host, &address.sin6_addr) == 1 else { throw notNumeric(host) }
    return bind(socket, &address)
  }

  private static func bind<Address>(_ socket: Int32, _ address: inout Address) -> Bool {
    withUnsafeBytes(of: &address) { bytes in
      let pointer = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      return Glibc.bind(socket, pointer, socklen_t(bytes.count)) == 0
    }
  }

  private static func boundPort(_ socket: Int32, _ host: String, _ port: UInt16) throws(TransferError) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let bound = withUnsafeMutableBytes(of: &storage) { bytes in
      getsockname(socket, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length)
    }
    guard bound == 0 else { throw failure(host, port) }
    // The port is at the same offset in both address families.
    return withUnsafeBytes(of: &storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
  }

  private static func failure(_ host: String, _ port: UInt16) -> TransferError {
    TransferError(
      .config, "listen on", NameBytes("\(host):\(port)"), cause: errorText(errno), remedy: "choose another --listen")
  }

  private static func notNumeric(_ host: String) -> TransferError {
    TransferError(.usage, "listen on", NameBytes(host), cause: "not a numeric address", remedy: "use 127.0.0.1 or ::1")
  }

  /// Waits for a connection; nil when the listener was shut down.
  func accept() -> Int32? {
    while true {
      let accepted = Glibc.accept(descriptor.number, nil, nil)
      if accepted >= 0 {
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return accepted
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EMFILE, ENFILE, ENOBUFS, ENOMEM:
        // Descriptors become free when connections end; until then new connections wait in the backlog.
        poll(nil, 0, 20)
      default: return nil
      }
    }
  }
}
