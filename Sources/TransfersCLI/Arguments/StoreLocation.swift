import TransferModel

/// The location of the ledger.
enum StoreLocation {
  /// `--store`, then `TRANSFERS_STORE`, then `$XDG_STATE_HOME/transfers/transfers.db` (an absolute path, as the XDG
  /// Base Directory Specification asks), then `~/.local/state/transfers/transfers.db`.
  /// - Parameter configured: the value of a configuration, over which the variable takes precedence.
  static func path(
    option: String?, environment: [String: String], configured: ConfigSetting? = nil
  ) throws(CommandFailure) -> String {
    try find(option: option, environment: environment, configured: configured).path
  }

  /// With the origin of the value.
  static func find(
    option: String?, environment: [String: String], configured: ConfigSetting? = nil
  ) throws(CommandFailure) -> (path: String, origin: String) {
    guard let (path, origin) = candidate(option, environment, configured) else {
      throw CommandFailure(.config, "find the ledger: neither HOME nor XDG_STATE_HOME is set", remedy: "--store PATH")
    }
    guard !path.isEmpty, !EscapedArgument.isEscaped(path) else {
      throw .usage("\(origin) needs a path in UTF-8", remedy: "--store PATH, or omit it for the default location")
    }
    return (path, origin)
  }

  private static func candidate(
    _ option: String?, _ environment: [String: String], _ configured: ConfigSetting?
  ) -> (String, String)? {
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let option { return (option, "--store") }
    if let path = variable("TRANSFERS_STORE") { return (path, "TRANSFERS_STORE") }
    if let configured { return (configured.value, "\(configured.place)") }
    if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") {
      return (state + "/transfers/transfers.db", "XDG_STATE_HOME")
    }
    return variable("HOME").map { ($0 + "/.local/state/transfers/transfers.db", "HOME") }
  }
}
