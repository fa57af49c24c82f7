import TransferModel
import TransferReports

/// Why a command exits with a code other than 0: one line for people, one record for programs.
struct CommandFailure: Error, Sendable, Hashable {
  var status: ExitCode
  /// Stable name in `error[…]`.
  var code: String
  /// One line, already safe for a terminal.
  var text: String
  /// The remedy; empty when there is none.
  var remedy: String
  /// After printing the line the process ends by this signal, so that its parent sees it.
  var signal: Int32?
  /// Overrides the code of ``status``, for a command with its own exit codes.
  var exitStatus: Int32?
  /// It names a row that the ledger does not have.
  var isAboutMissingRow = false
  /// The output contains it already.
  var isTold = false

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

  /// - Parameter id: as people write it: `f99`.
  static func noRow(_ id: String) -> CommandFailure {
    let (kind, remedy) = id.first.flatMap { rows[$0] } ?? ("row", "transfers list")
    return noRow(kind, id, remedy: remedy)
  }

  static func noRow(_ kind: String, _ name: String, remedy: String) -> CommandFailure {
    var failure = usage("no such \(kind): \(name)", remedy: remedy)
    failure.isAboutMissingRow = true
    return failure
  }

  /// What an ID stands for, by its letter, and the command that lists these.
  private static let rows: [Character: (kind: String, remedy: String)] = [
    "b": ("batch", "transfers list batches"), "f": ("file", "transfers list files"),
    "c": ("chunk", "transfers list chunks"), "a": ("attempt", "transfers list attempts"),
    "r": ("run", "transfers report runs"), "s": ("session", "transfers gc"),
  ]
}

/// Runs `body` and converts errors of the lower layers to a command failure.
func failing<Result>(_ body: () throws(TransferError) -> Result) throws(CommandFailure) -> Result {
  do { return try body() } catch { throw CommandFailure(error) }
}

extension CommandFailure {
  /// The last line on standard error of a command with `--json` that does not exit with 0.
  var record: FigureObject {
    FigureObject([
      ("type", .text("exit")), ("code", .integer(Int64(status.rawValue))), ("name", .text(status.name)),
      ("error", .text(code)), ("message", .text(text)), ("remedy", .text(remedy)),
      ("retryable", .flag(status.isRetryable)),
    ])
  }
}
