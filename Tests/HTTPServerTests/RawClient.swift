import Glibc
import TransferModel

/// A connection on which a test sends exactly the bytes that it chooses.
final class RawClient {
  private let socket: Int32

  init(port: UInt16) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    try connect(&address)
  }

  init(path: String) throws {
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    try connect(&address)
  }

  deinit { close(socket) }

  private func connect<Address>(_ address: inout Address) throws {
    let status = withUnsafeBytes(of: &address) {
      Glibc.connect(socket, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
    }
    guard status == 0 else { throw TransferError(.bug, "connect", cause: String(cString: strerror(errno))) }
  }

  func say(_ text: String) { say(Array(text.utf8)) }
  func say(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes { send(socket, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  /// Closes the sending side of the connection.
  func finish() { shutdown(socket, Int32(SHUT_WR)) }

  /// The next bytes that the server sends.
  func hearOne() -> String {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    return String(decoding: buffer[..<max(0, recv(socket, &buffer, buffer.count, 0))], as: UTF8.self)
  }

  /// Everything that the server sends until it closes the connection.
  func hear() -> String {
    var (heard, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    while case let count = recv(socket, &buffer, buffer.count, 0), count > 0 { heard += buffer[..<count] }
    return String(decoding: heard, as: UTF8.self)
  }
}
