import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store prune`.
struct StorePruneCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "prune", abstract: "Delete the requests of files that ended long ago; receipts and sums stay.",
    discussion: """
      Deleted are the attempts and sessions of done files, and their chunks if the receipt has the digest of the \
      content; and everything of generations that were superseded before they were done; in both cases with ended \
      callbacks, and only if the file ended before the given time, which must be at least a day ago. So are ended \
      callbacks of batches of that time.

      Kept are every done file with its receipts, so that pushing it again says unchanged and its proof stays valid; \
      batches, runs and events; the leaves of the log; sums of the deleted attempts, by batch, run and quarter of an \
      hour, which reports include. Files that are neither done nor superseded are kept completely, because they may \
      continue or be retried: cancelled, failed and unknown files, and those with a session that may be open on its \
      server. So are the chunks of a downloaded file, with which the next pull compares.

      It works while an engine runs, with a few files per transaction; after a kill the same command does the rest. \
      Each transaction is an event and a leaf of the log. IDs are never reused: "transfers show" says that a row was \
      pruned. The database file keeps its size and reuses the free space; "transfers store snapshot" writes a copy \
      without it.

      Examples:
        transfers store prune --older-than 90d -n
        transfers store prune --older-than 2026-01-01
      """)

  @Option(
    help: ArgumentHelp("A period or a time: 90d, 12w, 2026-01-01; transfers help time.", valueName: "time"))
  var olderThan: String
  @Flag(name: [.customShort("n"), .long], help: "Only print what would be deleted; changes nothing.")
  var dryRun = false
  @OptionGroup var common: CommonOptions

  /// Anything shorter is a typing error (`90s` for `90d`).
  static let leastAgeMs: Int64 = 86_400_000

  func execute(_ context: Context) throws(CommandFailure) {
    let path = try common.storePath(context)
    let ledger = try dryRun ? LedgerAccess.open(path, context) : LedgerAccess.openForWriting(path, context)
    defer { ledger.close() }
    let beforeMs = try Selection().time(olderThan, "--older-than", ledger, context)
    guard beforeMs >= 0 else {
      throw .usage("--older-than \"\(printable(olderThan))\" is before 1970", remedy: "90d, 12w, 2026-01-01")
    }
    guard beforeMs <= context.clock.wallMs - Self.leastAgeMs else {
      throw .usage(
        "--older-than \"\(printable(olderThan))\" is less than a day ago", remedy: "90d, 12w, 2026-01-01; at least 1d")
    }
    try common.checkColumns(of: StorePruneOutput(PruneOutcome(beforeMs: beforeMs), dryRun: dryRun), context)
    let outcome = try failing { () throws(TransferError) in
      try dryRun
        ? ledger.pruneOutcome(before: beforeMs)
        : ledger.prune(before: beforeMs, between: WriteThrottle(context.clock).rest)
    }
    try common.print(
      StorePruneOutput(outcome, dryRun: dryRun), store: StoreIdentity(ledger),
      filters: ["older-than": .text(olderThan)], context)
  }
}

/// What `store prune` did, or would do.
struct StorePruneOutput: OutputValue {
  private let outcome: PruneOutcome
  private let dryRun: Bool

  init(_ outcome: PruneOutcome, dryRun: Bool) { (self.outcome, self.dryRun) = (outcome, dryRun) }

  static let form = ReportForm<StorePruneOutput>(
    "transfers.store.prune/1",
    [
      .facts([
        .flag("dry_run", "") { $0.dryRun }.saying { $0.dryRun ? "would be deleted; nothing was changed" : nil },
        .time("before_at", "before") { $0.outcome.beforeMs },
        .integer("histories", "done files") { $0.outcome.pruned.histories }.saying { $0.histories },
        .integer("files", "replaced") { $0.outcome.pruned.files }.saying { $0.replaced },
        .integer("attempts", "attempts") { $0.outcome.pruned.attempts },
        .integer("sessions", "sessions") { $0.outcome.pruned.sessions },
        .integer("chunks", "chunks") { $0.outcome.pruned.chunks },
        .integer("callbacks", "callbacks") { $0.outcome.pruned.callbacks },
        .bytes("bytes_transferred") { $0.outcome.pruned.bytesTransferred },
        .integer("kept", "kept") { $0.outcome.kept }.saying { $0.kept },
        .bytes("bytes_freed", "freed") { $0.outcome.bytesFreed }.saying { $0.freed },
        .bytes("file_bytes", "file") { $0.outcome.fileBytes },
      ])
    ])

  private var histories: String { "\(outcome.pruned.histories), which keep their receipts and sums" }

  private var replaced: String? {
    outcome.pruned.files > 0 ? "\(Quantity.count(Int(outcome.pruned.files), "generation")), deleted completely" : nil
  }

  private var kept: String? {
    guard outcome.kept > 0 else { return nil }
    return "\(Quantity.count(Int(outcome.kept), "file")) of that time fully: neither done nor superseded, or not ended"
  }

  private var freed: String? {
    outcome.bytesFreed.map { "\(Quantity.bytes($0)) free for new rows; the file keeps its size" }
  }
}
