import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Notices to the service manager: datagrams to the socket that `NOTIFY_SOCKET` names, with `@` for an abstract one.
/// Source: sd_notify(3), sd_watchdog_enabled(3).
struct ServiceNotice: Sendable {
  private let path: String?
  /// How often to send a watchdog notice, in milliseconds: half of the manager's timeout. nil for never.
  let watchdogMs: Int64?

  init(_ context: Context, pid: pid_t = getpid()) {
    path = context.variable("NOTIFY_SOCKET").flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    let isMeant = context.variable("WATCHDOG_PID").map { $0 == String(pid) } ?? true
    watchdogMs = isMeant ? context.variable("WATCHDOG_USEC").flatMap { Int64($0) }.map { max(1, $0 / 2_000) } : nil
  }

  func ready(_ status: String) { send("READY=1\nSTATUS=\(status)") }
  func status(_ status: String) { send("STATUS=\(status)") }
  func stopping() { send("STOPPING=1\nSTATUS=stopping") }
  func watchdog() { send("WATCHDOG=1") }

  /// Ended by ``ready(_:)``.
  func reloading() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    send("RELOADING=1\nMONOTONIC_USEC=\(Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000)")
  }

  /// Never waits; it is not an error if no manager listens.
  private func send(_ text: String) {
    guard let path else { return }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(EscapedArgument.decode(path))
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    if name[0] == 0x40 { name[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + name.count
    let bytes = Array(text.utf8)
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL), $0, socklen_t(length))
      }
    }
  }
}
