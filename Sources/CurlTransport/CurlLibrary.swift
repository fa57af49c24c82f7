internal import CCurl

/// The libcurl that this process runs with.
public struct CurlLibrary: Sendable, Hashable {
  /// `7.88.1`
  public var version: String
  /// `OpenSSL/3.0.17`; nil without TLS.
  public var tls: String?
  /// `AsynchDNS`, `HTTP2`, `SSL` …; empty when it is too old to tell.
  public var features: [String]
  /// Certificate authorities that are trusted when none are named: a PEM file, a directory.
  public var caFile: String?
  public var caPath: String?

  public static var current: CurlLibrary {
    CurlLibrary(
      version: String(cString: ccurl_library_version()), tls: ccurl_tls_version().map { String(cString: $0) },
      features: names(), caFile: ccurl_default_ca_file().map { String(cString: $0) },
      caPath: ccurl_default_ca_path().map { String(cString: $0) })
  }

  private static func names() -> [String] {
    guard var cursor = ccurl_feature_names() else { return [] }
    var names: [String] = []
    while let name = cursor.pointee {
      names.append(String(cString: name))
      cursor += 1
    }
    return names
  }
}
