import TransferModel
import Transfers

/// What the daemon tells people and the service manager: a status only when it changed, and an error of the ledger only
/// once.
final class DaemonReporter {
  let notice: ServiceNotice
  /// Why the ledger could not be read the last time; nil if it could.
  private(set) var ledgerError: String?
  private let context: Context
  private let isQuiet: Bool
  private var told = ""
  private var watchdogAtMs: Int64 = 0

  init(_ context: Context, isQuiet: Bool) {
    (self.context, self.isQuiet) = (context, isQuiet)
    notice = ServiceNotice(context)
  }

  func say(_ text: String) {
    if !isQuiet { warn(printable(text)) }
  }

  /// Also with `--quiet`.
  func warn(_ text: String) { context.err.writeLine("transfers: daemon: \(text)") }

  /// Tells the service manager a status that has changed.
  func tell(_ status: String) {
    guard status != told else { return }
    told = status
    notice.status(told)
  }

  /// Sends the service manager a sign of life when it is due, as long as `isAlive`.
  func petWatchdog(stepMs: Int64, isAlive: () -> Bool) {
    guard let everyMs = notice.watchdogMs, context.clock.bootMs >= watchdogAtMs else { return }
    watchdogAtMs = context.clock.bootMs + max(everyMs - stepMs, stepMs)
    if isAlive() { notice.watchdog() }
  }

  /// nil while the ledger cannot be read: the error is reported once, and the read repeated.
  func attempt<Value>(_ body: () throws(TransferError) -> Value) -> Value? {
    do throws(TransferError) {
      let value = try body()
      ledgerError = nil
      return value
    } catch {
      let failure = CommandFailure(error)
      if ledgerError != failure.text { context.err.writeLine(failure.line) }
      ledgerError = failure.text
      return nil
    }
  }
}
