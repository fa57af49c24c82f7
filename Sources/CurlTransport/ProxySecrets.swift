#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// User and password of the proxies of the environment. libcurl reads these variables itself; it quotes a proxy that it
/// cannot understand in full. Source: libcurl-env(3).
enum ProxySecrets {
  private static let variables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

  /// Whether `message` repeats one.
  static func areQuoted(in message: String) -> Bool {
    variables.contains { name in
      guard let value = getenv(name), let userInfo = userInfo(String(cString: value)) else { return false }
      return message.contains(userInfo)
    }
  }

  /// What stands before the last `@`, without the scheme; nil when there is nothing.
  private static func userInfo(_ proxy: String) -> String? {
    guard let at = proxy.lastIndex(of: "@") else { return nil }
    let start = proxy.firstRange(of: "://")?.upperBound ?? proxy.startIndex
    return start < at ? String(proxy[start..<at]) : nil
  }
}
