import TransferModel

/// Notes on standard error about the interpretation of a command.
struct Remarks {
  private let err: OutputStream
  private let common: CommonOptions

  init(_ err: OutputStream, _ common: CommonOptions) { (self.err, self.common) = (err, common) }

  /// A misspelt variable is always reported (the user would rely on it), the rest only with `--verbose`.
  func aboutSettings(_ settings: EnvironmentOptions, _ context: Context) {
    guard !common.quiet else { return }
    if let (variable, meant) = settings.misspelt() {
      say("\(printable(variable)) sets nothing; did you mean \(meant)? See \"transfers help environment\"")
    }
    guard common.verbose else { return }
    if let (path, origin) = try? StoreLocation.find(
      option: common.store, environment: context.environment, configured: context.config.defaults["store"])
    {
      say("the ledger is \"\(printable(path))\", by \(origin)")
    }
    for file in context.config.files { say("configuration \"\(printable(file))\"") }
    for setting in settings.settings {
      let values = setting.shownArguments.map(EscapedArgument.shown)
      say("\(setting.variable) gives \(values.isEmpty ? "nothing" : values.joined(separator: " "))")
    }
  }

  private func say(_ text: String) { err.writeLine("transfers: \(text)") }
}
