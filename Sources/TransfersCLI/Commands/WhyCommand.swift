import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers why`: where the wall time of one file, batch or run went.
struct WhyCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Show where the time of a file, batch or run went, and what limited it.",
    discussion: """
      The wall time, from recording to the end, is divided into nine parts that sum exactly to it. Requests run \
      concurrently, so each moment counts once, for the first of these that is true of any of them:

        send       body bytes were being sent (receive, in a download)
        server     a request was sent and the server had not answered
        connect    name lookup, TCP connection, TLS handshake
        verify     the server was queried about the content
        backoff    it waited after a failure
        throttled  a rate limit delayed a body, or the host had sent
                   Retry-After with 429 or 503
        paused     it was paused; or, for a file, it had ended until somebody
                   retried it
        queued     an engine ran and did other work first, or read the file
                   before a request
        down       no engine ran, or the machine was asleep

      The cause is the part with more than half of the time, else "mixed". For a batch each part considers all of its \
      files, for a run (r3) its own requests. Whatever has not ended is counted until now.

      The bottleneck while requests run: a rate limit, if it delayed bodies for a fifth of their time; a processor, if \
      the engine used 0.9 of one; short requests, or the server, if a request spends more time without moving its body \
      than moving it: short requests if that takes no more than three round trips, in which case chunk × connections / \
      that time is the maximum throughput; else the network, or the other side.

      A body counts as sent when the kernel has accepted its last byte: if it fits into the send buffer (some MiB), \
      its network time counts as the server's. Within a request the ledger has the times of the connection, the last \
      byte of the body, the first byte of the answer and the end; the request is assumed to end when its end was \
      recorded. Interrupted attempts count until the last heartbeat of their engine. A sleep is recorded when the \
      engine detects it (Linux).
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
    guard let found else { throw .noRow("\(subject)") }
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
        "why takes a file, batch or run, not \"\(selector.text)\"", remedy: "f345, b12 or r3")
    }
  }
}
