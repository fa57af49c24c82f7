#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// User and password of the proxies in the environment. libcurl reads these variables itself, and its errors quote an
/// invalid proxy completely. Source: libcurl-env(3).
enum ProxySecrets {
  private static let variables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

  /// Whether `message` contains one of them.
  static func areQuoted(in message: String) -> Bool {
    variables.contains { name in
      guard let value = getenv(name), let userInfo = userInfo(String(cString: value)) else { return false }
      return message.contains(userInfo)
    }
  }

  /// The text before the last `@`, without the scheme; nil if it is empty or there is no `@`.
  private static func userInfo(_ proxy: String) -> String? {
    guard let at = proxy.lastIndex(of: "@") else { return nil }
    let start = proxy.firstRange(of: "://")?.upperBound ?? proxy.startIndex
    return start < at ? String(proxy[start..<at]) : nil
  }
}
