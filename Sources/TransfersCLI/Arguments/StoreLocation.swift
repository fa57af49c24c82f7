import TransferModel

/// Where the ledger is.
enum StoreLocation {
  /// `--store`, then `TRANSFERS_STORE`, then `$XDG_STATE_HOME/transfers/transfers.db` (an absolute path, as the XDG Base
  /// Directory Specification asks), then `~/.local/state/transfers/transfers.db`.
  static func path(option: String?, environment: [String: String]) throws(CommandFailure) -> String {
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let option {
      guard !option.isEmpty, !EscapedArgument.isEscaped(option) else {
        throw .usage("--store needs a path in UTF-8")
      }
      return option
    }
    if let path = variable("TRANSFERS_STORE") { return path }
    if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/transfers/transfers.db" }
    if let home = variable("HOME") { return home + "/.local/state/transfers/transfers.db" }
    throw CommandFailure(.config, "find the ledger: neither HOME nor XDG_STATE_HOME is set", remedy: "--store PATH")
  }
}
