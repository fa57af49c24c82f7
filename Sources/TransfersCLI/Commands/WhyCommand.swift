import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers why`: where the wall time of one file, batch or run went.
struct WhyCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Say where the time of a file, batch or run went, and what limited it.",
    discussion: """
      The wall time, from when it was recorded until it came to rest, is cut into nine parts that sum exactly to it. \
      Requests run side by side, so each moment counts once, for the first of these that is true of any of them:

        send       body bytes were on their way (receive, in a download)
        server     a request was out and the server had not answered
        connect    name lookup, TCP connection, TLS handshake
        verify     the server was asked whether the content is right
        backoff    it waited after a failure
        throttled  a rate limit held a body back, or the host had asked for a wait (Retry-After with 429 or 503)
        paused     it was paused; or, for a file, at rest until somebody retried it
        queued     an engine ran and had other things to do first, or read the file before a request
        down       no engine ran, or the machine was asleep

      The cause is the part with more than half of the time, else "mixed". A batch counts what is true of any of its \
      files, a run (r3) what its own requests did. What has not ended is counted until now.

      What limits while requests run: a rate limit, when it held bodies for a fifth of their time; a processor, when the engine used \
      0.9 of one; short requests, or the server, when a request spends more time without moving its body than moving it: \
      short requests when that takes no more than three round trips, and then chunk × connections / that time is the most \
      that can be moved; else the line, or the other side.

      A body counts as sent when the system has taken its last byte: of one that fits its send buffer (some MiB), the time on \
      the line counts as the server's. Within a request the ledger has the time to the connection, the last byte of the body, the first byte of the answer \
      and the end; the request is taken to end when its end was recorded. Attempts that were cut off count until the \
      last sign of life of their engine. A sleep is recorded when the engine finds that it happened (Linux).
      """)

  @Argument(
    help: ArgumentHelp("f345, b12, r3 or the beginning of a uid of a file or batch.", valueName: "id"),
    completion: LedgerCompletion.ids) var id: String
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let run = Self.run(id)
    if run == nil { try check() }
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let subject = if let run { run } else { try chosen(ledger) }
    let (found, gone) = try LedgerAccess.read(ledger) { reader in
      let gone = try reader.prunedFile(subject)
      return (try gone == nil ? reader.why(subject, context.clock) : nil, gone)
    }
    if let gone { throw .pruned(gone) }
    guard let found else { throw .usage("no row \(subject) in this ledger", remedy: "transfers list") }
    try common.print(WhyFigures.form.report(found), store: StoreIdentity(ledger), context)
  }

  /// `r3`: only this command takes runs.
  private static func run(_ text: String) -> WhySubject? {
    guard text.first == RunID.letter else { return nil }
    return RunID(text: text).map(WhySubject.run)
  }

  private func check() throws(CommandFailure) {
    if let selector = RowSelector(text: id), selector.range.count > 1 {
      throw .usage("\"\(printable(id))\" is not one row", remedy: "transfers list")
    }
    try RowSelector.check([id])
  }

  private func chosen(_ ledger: OpenStore) throws(CommandFailure) -> WhySubject {
    guard let selector = try RowSelector.parse([id], ledger).first else {
      throw .usage("\"\(printable(id))\" is not one row", remedy: "transfers list")
    }
    let number = selector.range.lowerBound
    switch selector.kind {
    case .file: return .file(FileID(rawValue: number))
    case .batch: return .batch(BatchID(rawValue: number))
    case .chunk, .attempt, .session:
      throw .usage(
        "why is for a file, batch or run, and \"\(selector.text)\" is none", remedy: "f345, b12 or r3")
    }
  }
}
