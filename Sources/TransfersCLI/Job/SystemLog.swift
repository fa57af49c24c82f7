#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The system log: journald and syslogd listen on the same socket. If there is no listener, nothing is logged, which is
/// not an error. Source: RFC 3164 section 4 as implemented by syslog(3): `<PRI>tag[pid]: text`, without a time, which
/// the receiver adds.
enum SystemLog {
  enum Severity: Int32 { case error = 3, info = 6 }

  /// One datagram; never waits.
  /// - Returns: whether it was handed over.
  @discardableResult
  static func send(_ text: String, _ severity: Severity, to path: String = "/dev/log") -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array(path.utf8)
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    // LOG_DAEMON is facility 3.
    let line = Array("<\(3 << 3 | severity.rawValue)>transfers[\(getpid())]: \(text)".utf8)
    let sent = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
        sendto(
          descriptor, line, line.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL), target,
          socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return sent == line.count
  }
}
