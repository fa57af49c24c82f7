import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A listening socket. A socket file is only accessible to its owner (0600) and is removed with this value.
final class ServerSocket: Sendable {
  private let descriptor: Int32
  /// The port that was bound; 0 for a socket file.
  let port: UInt16
  private let path: NameBytes?
  /// The identity of our socket file: another server may have taken over the name since.
  private let file: FileIdentity?
  private let isStopped = Lock(false)
  private let accepting: @Sendable (Int32) -> Int32

  /// `accepting` accepts the next connection of a socket, like accept(2).
  init(
    _ address: ListenAddress, accepting: @escaping @Sendable (Int32) -> Int32 = { accept($0, nil, nil) }
  ) throws(TransferError) {
    self.accepting = accepting
    switch address {
    case .tcp(let host, let port):
      (descriptor, path, file) = (try Self.open(host.contains(":") ? AF_INET6 : AF_INET, host), nil, nil)
      do throws(TransferError) {
        try Self.bind(descriptor, host, port)
        self.port = try Self.boundPort(descriptor, host)
      } catch {
        _ = close(descriptor)
        throw error
      }
    case .unix(let path):
      (descriptor, self.path, port) = (try Self.open(AF_UNIX, "unix"), path, 0)
      do throws(TransferError) {
        try Self.bind(descriptor, path)
        file = Self.identity(path)
      } catch {
        _ = close(descriptor)
        throw error
      }
    }
    guard listen(descriptor, 64) == 0 else { throw Self.failure(NameBytes("\(address)")) }
  }

  deinit {
    _ = close(descriptor)
    if let path, let file, file == Self.identity(path) { _ = path.withCString { unlink($0) } }
  }

  /// Waits for a connection; nil after ``stop()``. All errors are temporary: network errors concern one connection
  /// (Linux returns them from accept(2)), and descriptors become free when connections end; until then, new ones wait
  /// in the backlog.
  func nextConnection() -> Int32? {
    while !isStopped.withLock(\.self) {
      let accepted = accepting(descriptor)
      if accepted >= 0 {
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return accepted
      }
      if errno != EINTR, errno != ECONNABORTED { poll(nil, 0, 20) }
    }
    return nil
  }

  /// Makes ``nextConnection()`` return nil, now and in the future.
  func stop() {
    isStopped.withLock { $0 = true }
    _ = shutdown(descriptor, Int32(SHUT_RDWR))
  }

  private static func open(_ family: Int32, _ subject: String) throws(TransferError) -> Int32 {
    #if canImport(Glibc)
      let opened = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    #else
      let opened = socket(family, SOCK_STREAM, 0)
      _ = fcntl(opened, F_SETFD, FD_CLOEXEC)
    #endif
    guard opened >= 0 else { throw failure(NameBytes(subject)) }
    return opened
  }

  private static func bind(_ socket: Int32, _ host: String, _ port: UInt16) throws(TransferError) {
    var on: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    let bound: Bool
    if host.contains(":") {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      bound = inet_pton(AF_INET6, host, &address.sin6_addr) == 1 && bindAddress(socket, &address)
    } else {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      bound = inet_pton(AF_INET, host, &address.sin_addr) == 1 && bindAddress(socket, &address)
    }
    guard bound else { throw failure(NameBytes("\(host):\(port)")) }
  }

  /// The socket file gets the mode of the socket, which is set before the file exists. A file on which nobody listens
  /// was left by a killed server and is replaced.
  private static func bind(_ socket: Int32, _ path: NameBytes) throws(TransferError) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.bytes) }
    guard fchmod(socket, 0o600) == 0 else { throw failure(path) }
    if bindAddress(socket, &address) { return }
    guard errno == EADDRINUSE, isAbandoned(&address, path) else { throw failure(path, EADDRINUSE) }
    _ = path.withCString { unlink($0) }
    guard bindAddress(socket, &address) else { throw failure(path) }
  }

  private static func isAbandoned(_ address: inout sockaddr_un, _ path: NameBytes) -> Bool {
    var status = stat()
    guard path.withCString({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFSOCK,
      let probe = try? open(AF_UNIX, "unix")
    else { return false }
    defer { _ = close(probe) }
    let connected = withUnsafeBytes(of: &address) { bytes in
      connect(
        probe, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
    }
    return !connected && errno == ECONNREFUSED
  }

  private static func bindAddress<Address>(_ socket: Int32, _ address: inout Address) -> Bool {
    withUnsafeBytes(of: &address) { bytes in
      systemBind(
        socket, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
    }
  }

  private static func boundPort(_ socket: Int32, _ host: String) throws(TransferError) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let found = withUnsafeMutableBytes(of: &storage) { bytes in
      getsockname(socket, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length)
    }
    guard found == 0 else { throw failure(NameBytes(host)) }
    // The port is at the same offset in both address families.
    return withUnsafeBytes(of: &storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
  }

  private struct FileIdentity: Hashable {
    let device: UInt64, inode: UInt64
  }

  private static func identity(_ path: NameBytes) -> FileIdentity? {
    var status = stat()
    guard path.withCString({ lstat($0, &status) }) == 0 else { return nil }
    return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  private static func failure(_ subject: NameBytes, _ number: Int32 = errno) -> TransferError {
    TransferError(
      .config, "listen on", subject, cause: systemText(number), remedy: "choose another --listen")
  }
}

extension NameBytes {
  /// Runs `body` with the name as a C string. The name must not contain NUL.
  fileprivate func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (bytes + [0]).withUnsafeBytes { body($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
  }
}

private func systemBind(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
  bind(socket, address, length)
}
