import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store merge`.
struct StoreMergeCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "merge", abstract: "Join the ledgers of several machines in one, for reports.",
    discussion: """
      Creates or updates LEDGER. A shard is a ledger, or a copy of one made by "store snapshot" or "store backup". \
      Shards may be given in any order and repeatedly: a shard that has continued is updated, an unchanged one is left \
      alone, an older copy changes nothing. Each shard is merged in one transaction, from one consistent state of it, \
      also while an engine works on it; after a kill or a full disk the same command does the rest. Shards are only \
      read.

      LEDGER is for reading: report, list, show, why, status, prove, and "store check", "seal" and "receipts" work on \
      it; run, push and all commands that write are refused with exit code 7. Row 7 of shard 3 has the number \
      3000000000007 there. --batch NAME means the batches of that name of all shards.

      Files of two shards with the same key at the same destination stay apart, and totals count both. The row of the \
      later shard says how many there are (equal_keys), and so does "report summary"; it also says how many of them have \
      other content (other_contents), of which the destination has only what was sent last: "prove" lists the others.

      Examples:
        transfers store merge all.db shard-*.db
        transfers report --store all.db summary
      """)

  @Argument(help: ArgumentHelp("The merged ledger; created if it is missing.", valueName: "ledger"))
  var ledger: String
  @Argument(help: ArgumentHelp("The ledgers to merge into it.", valueName: "shard"), completion: .file())
  var shards: [String]
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if common.store != nil { throw ValidationError("--store has no meaning here; the merged ledger comes first") }
    if ledger.isEmpty || EscapedArgument.isEscaped(ledger) || shards.contains(where: { $0.isEmpty }) {
      throw ValidationError("a ledger needs a name in UTF-8")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    try common.checkColumns(of: StoreMergeOutput([]), context)
    let signals = SignalWatch()
    signals.handle { _, _ in true }
    let merges: [ShardMerge]
    do {
      merges = try TransferStore(at: ledger).merge(shards, isCancelled: { signals.received.count > 0 })
    } catch {
      var failure = CommandFailure(error)
      if error.kind == .interrupted { failure.signal = signals.received.signal }
      throw failure
    }
    try common.print(StoreMergeOutput(merges), store: StoreIdentity.read(ledger, context), context)
  }
}

/// The result of each shard.
struct StoreMergeOutput: OutputValue {
  private let merges: [ShardMerge]

  init(_ merges: [ShardMerge]) { self.merges = merges }

  static let form = ReportForm<StoreMergeOutput>(
    "transfers.store.merge/1", rows: "shards",
    [
      .table(
        "shards", nil,
        [
          .integer("number", "Shard") { $0.number },
          .text("outcome", "Outcome") { $0.outcome.rawValue },
          .integer("files", "Files") { $0.files },
          .integer("attempts", "Attempts") { $0.attempts },
          .text("host", "Host") { $0.host.isEmpty ? nil : $0.host },
          .name("path", "Path") { NameBytes($0.path) },
          .flag("unfinished") { $0.isUnfinished },
          .integer("equal_keys") { $0.equalKeys },
          .integer("other_contents") { $0.otherContents },
          .text("uid") { $0.uid },
          .text("remark") { $0.remark },
        ], TableLook(note: "remark")
      ) { $0.merges }
    ])
}

extension ShardMerge {
  fileprivate var remark: String? {
    let remarks = [outcomeRemark, equalKeysRemark, otherContentsRemark].compactMap(\.self)
    return remarks.isEmpty ? nil : remarks.joined(separator: "; ")
  }

  private var outcomeRemark: String? {
    switch outcome {
    case .older: "unchanged: a newer state was merged before"
    case .repeated: "given twice; merged once"
    case .merged, .unchanged:
      isUnfinished ? "an engine is running on it, or was killed: merge it again when it has ended" : nil
    }
  }

  private var equalKeysRemark: String? {
    guard equalKeys > 0 else { return nil }
    return equalKeys == 1
      ? "1 of its files was sent by another shard, too: totals count it twice"
      : "\(equalKeys) of its files were sent by another shard, too: totals count them twice"
  }

  private var otherContentsRemark: String? {
    guard otherContents > 0 else { return nil }
    return "\(otherContents) of them with other content: the destination has only what was sent last"
  }
}
