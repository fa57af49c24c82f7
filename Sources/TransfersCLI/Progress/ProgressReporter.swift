import TransferModel
import TransferReports
import Transfers

/// Shows on standard error how a run goes: one rewritten line on a terminal (at most ten times a second), else nothing for
/// ten seconds and then a line every thirty. Lines for people go above the rewritten one. Any thread.
final class ProgressReporter: Sendable {
  private struct State {
    var estimator = RateEstimator()
    var lastShownMs: Int64?
    var shownLine = ""
    var announcedRetries: Set<ErrorCode> = []
  }

  private let err: OutputStream
  private let isQuiet: Bool
  private let isTerminal: Bool
  private let state = Lock(State())

  init(_ err: OutputStream, isQuiet: Bool) {
    self.err = err
    self.isQuiet = isQuiet
    isTerminal = err.isTerminal
  }

  func progress(_ now: ProgressSnapshot) {
    guard !isQuiet else { return }
    let text = state.withLock { state in
      state.estimator.record(bytes: now.bytesAcked + now.bytesInFlight, atMs: now.elapsedMs)
      return frame(&state, now)
    }
    if let text { err.write(text) }
  }

  /// What to write now; nil while it is too early or nothing changed.
  private func frame(_ state: inout State, _ now: ProgressSnapshot) -> String? {
    let isDue = state.lastShownMs.map { now.elapsedMs - $0 >= (isTerminal ? 100 : 30_000) }
    guard isDue ?? (isTerminal || now.elapsedMs >= 10_000) else { return nil }
    let columns = isTerminal ? err.columns.map { $0 - 1 } : nil
    let line = ProgressText.line(now, bytesPerSecond: state.estimator.bytesPerSecond, columns: columns)
    guard line != state.shownLine || !isTerminal else { return nil }
    state.lastShownMs = now.elapsedMs
    guard isTerminal else { return line + "\n" }
    state.shownLine = line
    return "\r\(line)\u{1B}[K"
  }

  func notice(_ notice: Notice) {
    switch notice {
    case .skipped(let path, let reason): say("skipped \(path): \(printable(reason))")
    case .failed(let path, let failure): say("failed \(path): \(failure.code.rawValue): \(printable(failure.message))")
    case .retrying(let path, let failure, let ms): retrying(path, failure, ms)
    case .unknown(let path, let failure):
      say("unknown \(path): \(failure.code.rawValue): \(printable(failure.message))")
    case .sourceChanged(let path): say("changed while it was sent, its new content follows: \(path)")
    case .recovered(let attempts, let files, let unknown): recovered(attempts, files, unknown)
    case .draining(let requests):
      if requests > 0 { say("finishing \(Quantity.count(requests, "request"))") }
    case .planned: break
    }
  }

  /// What the run before this one left open.
  private func recovered(_ attempts: Int, _ files: Int, _ unknown: Int) {
    guard attempts + files + unknown > 0 else { return }
    let doubt = unknown > 0 ? ", \(Quantity.count(unknown, "file")) now unknown" : ""
    say(
      "the last run ended without a word: \(Quantity.count(attempts, "request")) cut off, \(Quantity.count(files, "file")) to go on with\(doubt)"
    )
  }

  /// The first retry for each reason is told; more of them are only counted, because there may be thousands.
  private func retrying(_ path: NameBytes, _ failure: Failure, _ ms: Int64) {
    guard state.withLock({ $0.announcedRetries.insert(failure.code).inserted }) else { return }
    let cause = "\(failure.code.rawValue): \(printable(failure.message))"
    say("retrying \(path) in \(Quantity.duration(ms)): \(cause) (more of these are only counted)")
  }

  /// One line above the progress line.
  func say(_ line: String) {
    if !isQuiet { announce(line) }
  }

  /// The same, also with `--quiet`: for what a person at the terminal must know now.
  func announce(_ line: String) {
    let shown = state.withLock { $0.shownLine }
    err.write(shown.isEmpty ? line + "\n" : "\r\u{1B}[K\(line)\n\(shown)")
  }

  /// Takes the progress line away, so that what follows starts on an empty line.
  func finish() {
    let wasShown = state.withLock { state in
      defer { state.shownLine = "" }
      return !state.shownLine.isEmpty
    }
    if wasShown { err.write("\r\u{1B}[K") }
  }
}
