internal import CCurl
public import TransferModel

/// The libcurl that this process uses.
public struct CurlLibrary: Sendable, Hashable {
  /// `7.88.1`
  public var version: String
  /// `OpenSSL/3.0.17`; nil without TLS.
  public var tls: String?
  /// `AsynchDNS`, `HTTP2`, `SSL` …; empty when it is too old to report them.
  public var features: [String]
  /// Certificate authorities that are trusted when none are named: a PEM file, a directory.
  public var caFile: String?
  public var caPath: String?

  /// Loads libcurl on the first call in a process, which takes some milliseconds; callable from any thread.
  /// - Throws: `config` on each call if no suitable libcurl is installed.
  public static func load() throws(TransferError) -> CurlLibrary {
    try check(ccurl_load(), String(cString: ccurl_library_name()), oldest: UInt32(CCURL_OLDEST))
    return CurlLibrary(
      version: String(cString: ccurl_version()), tls: ccurl_tls_version().map { String(cString: $0) },
      features: names(), caFile: ccurl_default_ca_file().map { String(cString: $0) },
      caPath: ccurl_default_ca_path().map { String(cString: $0) })
  }

  /// Throws what ``load()`` would throw if libcurl had this name and had to be of this version (0x075700 is 7.87.0).
  static func check(named name: String, oldest: UInt32 = UInt32(CCURL_OLDEST)) throws(TransferError) {
    try check(ccurl_try(name, oldest), name, oldest: oldest)
  }

  private static func check(_ outcome: ccurl_outcome, _ name: String, oldest: UInt32) throws(TransferError) {
    let detail = outcome.detail.map { String(cString: $0) } ?? "no memory"
    let cause: String
    switch outcome.verdict {
    case .loaded: return
    case .notFound: cause = detail
    case .lacksFunction: cause = "it has no function \(detail)"
    case .tooOld: cause = "version \(detail) is older than \(versionText(oldest))"
    }
    throw TransferError(
      .config, "load libcurl", NameBytes(name), cause: cause,
      remedy: "install libcurl \(versionText(oldest)) or newer (Debian: libcurl4)")
  }

  /// Source: LIBCURL_VERSION_NUM in curlver.h, one byte for each part.
  private static func versionText(_ number: UInt32) -> String {
    "\(number >> 16).\(number >> 8 & 0xFF).\(number & 0xFF)"
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
