#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Read-only access to the environment of the process.
enum Environment {
  /// nil when the variable is unset or empty; the program treats both alike everywhere.
  static func value(_ name: String) -> String? {
    guard let pointer = getenv(name) else { return nil }
    let text = String(cString: pointer)
    return text.isEmpty ? nil : text
  }
}
