import TransferModel

/// The command line in the form that may be recorded in the ledger: without user information and queries of URLs, where
/// secrets may be, and without the paths of callback receivers.
enum RecordedArguments {
  static func masked(_ arguments: [String]) -> [String] { arguments.map(masked) }

  private static func masked(_ argument: String) -> String {
    guard let scheme = argument.firstRange(of: "://") else { return argument }
    let head = argument[..<scheme.upperBound]
    var rest = argument[scheme.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    if let at = authority.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
    let isReceiver = ["webhook:", "ping:"].contains { head.contains($0) }
    if isReceiver, let path = rest.firstIndex(where: { $0 == "/" || $0 == "?" || $0 == "#" }) {
      return String(head + rest[..<path]) + "/(hidden)"
    }
    guard let query = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) else { return String(head + rest) }
    return String(head + rest[..<query]) + String(rest[query]) + "(hidden)"
  }
}
