import TransferModel

/// Why a command ends with something else than 0: one line for people, one record for programs.
struct CommandFailure: Error, Sendable, Hashable {
  var status: ExitCode
  /// Stable name in `error[…]`.
  var code: String
  /// One line, already safe for a terminal.
  var text: String
  /// The remedy; empty when there is none.
  var remedy: String
  /// After the line is printed the process ends by this signal, so that its parent sees what happened.
  var signal: Int32?

  init(_ status: ExitCode, code: String? = nil, _ text: String, remedy: String = "", signal: Int32? = nil) {
    self.status = status
    self.code = code ?? status.name
    self.text = text
    self.remedy = remedy
    self.signal = signal
  }

  init(_ error: TransferError) {
    status = ExitCode(error.kind)
    code = error.kind.rawValue
    let what = error.subject.isEmpty ? error.operation : "\(error.operation) \"\(error.subject)\""
    text = "\(what): \(printable(error.cause))"
    remedy = printable(error.remedy)
    signal = nil
  }

  /// `transfers: error[store.full]: open store "/x/y.db": disk is full. Try: free space and run "transfers run"`.
  var line: String {
    "transfers: error[\(code)]: \(text)" + (remedy.isEmpty ? "" : "\(text.hasSuffix("?") ? "" : ".") Try: \(remedy)")
  }

  static func usage(_ text: String, remedy: String = "") -> CommandFailure {
    CommandFailure(.usage, text, remedy: remedy)
  }
}

/// Runs `body` and turns what our layers throw into the failure of the command.
func failing<Result>(_ body: () throws(TransferError) -> Result) throws(CommandFailure) -> Result {
  do { return try body() } catch { throw CommandFailure(error) }
}

/// The last line on the standard error of a command with `--json` that does not end with 0.
struct ExitRecord: Encodable, Sendable {
  let type = "exit"
  let code: Int32
  let name: String
  let error: String
  let message: String
  let remedy: String
  let retryable: Bool

  init(_ failure: CommandFailure) {
    code = failure.status.rawValue
    name = failure.status.name
    error = failure.code
    message = failure.text
    remedy = failure.remedy
    retryable = failure.status.isRetryable
  }

  private enum CodingKeys: String, CodingKey { case type, code, name, error, message, remedy, retryable }
}
