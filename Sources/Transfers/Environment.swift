import CSys
import TransferModel

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

  /// Variables that a reference (`env:NAME`) has named in this process.
  private static let named = Lock<Set<String>>([])
  /// Parts of the names that people give to variables with secrets, in upper case.
  private static let words = [
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "ACCESS_KEY", "API_KEY", "APIKEY",
    "PRIVATE_KEY", "ACCOUNT_KEY",
  ]

  /// The value of a variable that a reference to a secret names; nil if it is unset or empty.
  static func secret(_ name: String) -> String? {
    named.withLock { _ = $0.insert(name) }
    return value(name)
  }

  /// The values of variables that hold secrets: these, those of references, and those whose name says so. A program
  /// that this one starts inherits them, and may print them.
  static func secrets(andOf more: Set<String>) -> [String] {
    let named = named.withLock { $0 }.union(more)
    var found: [String] = []
    var next = csys_environment()
    while let variable = next?.pointee {
      let parts = String(cString: variable).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      let upper = name.uppercased()
      if parts.count == 2, named.contains(name) || words.contains(where: { upper.contains($0) }) {
        found.append(String(parts[1]))
      }
      next = next?.advanced(by: 1)
    }
    return found.filter { $0.utf8.count >= 4 && !$0.hasPrefix("/") }
  }
}
