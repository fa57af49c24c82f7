import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store snapshot`.
struct StoreSnapshotCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Write a read-only copy for inspection: by an auditor, a report, another machine.",
    discussion: """
      The copy is one consistent state, also while an engine works. It has no free pages and no write-ahead log, so \
      everybody who may read the file can open it, also on read-only media: "transfers report --store FILE", sqlite3, \
      Datasette. Its mode is 0400; use chmod before handing it over. FILE appears when it is complete and durable. For \
      a working copy see "store backup".
      """)

  @OptionGroup var target: CopyOptions
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) { try target.copy(as: .snapshot, common, context) }
}

/// `transfers store backup`.
struct StoreBackupCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Write a copy that can be used as a ledger.",
    discussion: """
      The copy is one consistent state, also while an engine works. It has the same pages in the same positions as the \
      ledger: it is faster than a snapshot, and two backups differ only where the ledger changed, which suits backup \
      tools that store differences. Its mode is 0600. To continue with it: "transfers run --store FILE"; never run the \
      old ledger as well, or both send the same files.
      """)

  @OptionGroup var target: CopyOptions
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) { try target.copy(as: .backup, common, context) }
}

/// The destination of a copy.
struct CopyOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The file to create.", valueName: "file")) var file: String
  @Flag(name: .shortAndLong, help: "Replace the file when it exists.") var force = false

  func copy(as kind: LedgerCopy, _ common: CommonOptions, _ context: Context) throws(CommandFailure) {
    guard !file.isEmpty, !EscapedArgument.isEscaped(file) else { throw .usage("the file needs a name in UTF-8") }
    let signals = SignalWatch()
    signals.handle { _, _ in true }
    let path = try common.storePath(context)
    let size: Int64
    do {
      size = try TransferStore(at: path).copy(
        as: kind, to: file, replacing: force, isCancelled: { signals.received.count > 0 })
    } catch {
      var failure = CommandFailure(error)
      if error.kind == .interrupted { failure.signal = signals.received.signal }
      throw failure
    }
    let value = StoreCopyOutput(kind: kind.rawValue, file: NameBytes(file), bytes: size)
    try common.print(value, store: StoreIdentity.read(path, context), context)
  }
}

/// What `store snapshot` and `store backup` made.
struct StoreCopyOutput: OutputValue {
  let kind: String
  let file: NameBytes
  let bytes: Int64

  static let form = ReportForm<StoreCopyOutput>(
    "transfers.store.copy/1",
    [
      .facts(
        [
          .text("kind", "kind") { $0.kind },
          .name("file", "file") { $0.file },
          .bytes("bytes", "size") { $0.bytes },
        ], .headline(2))
    ])
}
