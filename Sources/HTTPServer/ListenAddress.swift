public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The address on which a server listens: `127.0.0.1:8787`, `[::1]:0`, `localhost:8787` or `unix:/path.sock`.
public enum ListenAddress: Sendable, Hashable {
  /// A numeric address; port 0 means any free port.
  case tcp(host: String, port: UInt16)
  case unix(path: NameBytes)

  /// Throws `.usage` for any other text: names are not resolved, because they may mean another machine.
  public init(_ text: NameBytes) throws(TransferError) {
    if text.bytes.starts(with: "unix:".utf8) {
      self = .unix(path: try Self.socketPath(NameBytes(Array(text.bytes.dropFirst(5)))))
      return
    }
    let words = String(decoding: text.bytes, as: UTF8.self)
    guard let colon = words.lastIndex(of: ":"), let port = Self.port(words[words.index(after: colon)...]) else {
      throw Self.refusal(text, "it is not ADDRESS:PORT or unix:PATH")
    }
    let host = Self.unbracketed(words[..<colon])
    guard let host, Self.isIPv4(host) || Self.isIPv6(host) else { throw Self.refusal(text, "not a numeric address") }
    self = .tcp(host: host, port: port)
  }

  /// Whether only programs on this machine can reach it.
  public var isLocal: Bool {
    switch self {
    case .unix: true
    case .tcp(let host, _): Self.isLoopback(host)
    }
  }

  /// Whether it is a loopback address. Source: RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3.
  public static func isLoopback(_ host: String) -> Bool {
    isIPv4(host) && host.hasPrefix("127.") || host == "::1"
  }

  public static func isNumeric(_ host: String) -> Bool { isIPv4(host) || isIPv6(host) }

  private static func isIPv4(_ host: String) -> Bool {
    var address = in_addr()
    return inet_pton(AF_INET, host, &address) == 1
  }

  private static func isIPv6(_ host: String) -> Bool {
    var address = in6_addr()
    return inet_pton(AF_INET6, host, &address) == 1
  }

  private static func unbracketed(_ host: Substring) -> String? {
    if host == "localhost" { return "127.0.0.1" }
    guard host.hasPrefix("[") else { return host.contains(":") ? nil : String(host) }
    return host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : nil
  }

  private static func port(_ digits: Substring) -> UInt16? {
    digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt16(digits) : nil
  }

  /// The system allows 107 bytes and a NUL. Source: unix(7).
  private static func socketPath(_ path: NameBytes) throws(TransferError) -> NameBytes {
    guard !path.isEmpty, !path.bytes.contains(0) else { throw refusal(path, "it does not name a file") }
    guard path.bytes.count <= 107 else { throw refusal(path, "the path of a socket may have at most 107 bytes") }
    return path
  }

  private static func refusal(_ text: NameBytes, _ cause: String) -> TransferError {
    TransferError(.usage, "listen on", text, cause: cause, remedy: "127.0.0.1:8787, [::1]:8787 or unix:/path.sock")
  }
}
