/// The character set of the terminal, from the environment.
enum Locale {
  /// The first of these that is set decides. Source: POSIX.1-2017 Base Definitions section 8.2.
  static func name(_ environment: [String: String]) -> String {
    ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
  }

  static func isUTF8(_ environment: [String: String]) -> Bool {
    name(environment).uppercased().replacing("-", with: "").contains("UTF8")
  }
}
