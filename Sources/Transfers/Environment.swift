#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The environment of the process, read only.
enum Environment {
  /// nil when the variable is not set or empty: an empty value means the same everywhere here.
  static func value(_ name: String) -> String? {
    guard let pointer = getenv(name) else { return nil }
    let text = String(cString: pointer)
    return text.isEmpty ? nil : text
  }
}
